// Builds the root of an image out of Debian's packages, from where this machine's apt has its own.
#pragma once

#include <string>

#include "cli/problem.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/surroundings.h"

namespace bh::cli {

// A folder in the image store's place, whose lock its builder holds: what is left of one that was
// killed is swept as any other half-made image is. Removed with this.
class BuildFolder {
 public:
  // `data_root`: the library's.
  static Result<BuildFolder> make(const std::string& data_root);
  BuildFolder(BuildFolder&& other) noexcept;
  BuildFolder& operator=(BuildFolder&&) = delete;
  ~BuildFolder();

  std::string root() const { return path_ + "/root"; }

 private:
  BuildFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_;
};

// Whether what a build takes is there: root's rights, debootstrap, apt, util-linux.
Result<void> check_build(const Surroundings& around);

// Fills `root`, an absolute path that is not there yet, with a Debian of `suite` (empty: this
// machine's release) that has what `recipe` says; only agent-session is known. A signal ends it.
// exit_code of the problem is 128+n then.
Result<void> build_root(const std::string& recipe, const std::string& suite,
                        const std::string& root, const Surroundings& around, Signals& signals,
                        Progress& progress);

}  // namespace bh::cli
