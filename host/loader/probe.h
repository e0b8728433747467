// Tries a plugin out in a process of its own before it may enter this one: a library that crashes,
// hangs, ends the process or prints to standard output while it is loaded or entered does so there.
// The helper program bulkhead-probe does the loading; here it is started, watched and judged.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "loader/trust.h"

namespace bh {

class PluginProbe {
 public:
  // `helper`: the program; found beside the library where empty. `memory`: a private folder in
  // which libraries that passed are remembered by their hash; empty: only this process remembers.
  // `time_ms`: who takes longer is stopped.
  PluginProbe(std::string helper, std::string memory, int time_ms);

  // True: it passed, now or earlier. False: there is no helper that could be started, so nobody
  // knows. Findings are of stage load, entry or interface, by how far it came. A library that the
  // dynamic linker refuses passes: no code of it ran, and the real load says the same. [any]
  // [blocking]
  Checked<bool> try_out(const File& library, const std::string& sha256);

 private:
  bool known(const std::string& sha256);
  void remember(const std::string& sha256);

  const std::string helper_;
  const std::string memory_;
  const int time_ms_;
  std::mutex mutex_;
  std::set<std::string> passed_;
};

}  // namespace bh
