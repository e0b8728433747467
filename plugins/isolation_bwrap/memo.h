// What asking the installed bubblewrap and trying it once gave, kept in the provider's state folder:
// a process that runs one command would else start five programs before its own.
#pragma once

#include <string>

#include "features.h"

namespace bwrap {

// Holds for the programs, the machine's boot and settings, and the rights that it was made under;
// and for a few minutes, since not all that can refuse a sandbox can be looked at. [any]
class Memo {
 public:
  Memo() = default;
  // `folder`: empty: nothing is kept.
  Memo(const std::string& folder, const std::string& program, const std::string& helper);

  // True: a sandbox started here lately, and `features` is filled.
  bool recall(Features& features) const;
  // After a sandbox has started.
  void keep(const Features& features) const;
  // After one has not.
  void forget() const;

 private:
  std::string path_, key_;
};

}  // namespace bwrap
