// The helper program: puts the fence up around itself, then runs the command.
#include <bulkhead/sdk/isolation/landlock.hpp>
#include <bulkhead/sdk/isolation/launch_here.hpp>

using namespace bulkhead::sdk::isolation;

// Everything that writes is refused, but in the folders that the plugin opened.
static bool fence(std::vector<Fd>& folders, InitFds&) {
  using namespace landlock;
  const Ruleset rules = Ruleset::make({(kWriting & ~kReading) | kMakeCharacter | kMakeBlock, 0, 0});
  bool good = static_cast<bool>(rules);
  for (const Fd& folder : folders) good = good && rules.allow(folder.get(), kWriting);
  for (const char* device : {"/dev/null", "/dev/zero", "/dev/full", "/dev/tty"}) {
    const Fd fd(::open(device, O_PATH | O_CLOEXEC));
    if (fd) good = good && rules.allow(fd.get(), kWriteFile);
  }
  return good && rules.enforce();
}

int main(int argc, char** argv) { return launch_here(argc, argv, &fence, nullptr); }
