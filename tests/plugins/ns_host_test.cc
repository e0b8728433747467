// What sandboxes must leave as it is on the host: its mounts, and who its files run as.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "setting.h"

using namespace bh_test;

namespace {

// In a mount namespace of its own in which all is shared, as systemd makes it on most machines; else
// what a sandbox mounted there would be the machine's too. 0: nothing of that, else what was wrong.
int among_shared_mounts(const Folder& folder) {
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_SHARED, nullptr) != 0) {
    return 1;
  }
  const std::string before = read("/proc/self/mountinfo");
  if (before.find(" shared:") == std::string::npos) return 2;
  const std::string late = folder.make("late");
  Backend backend("ns", folder.make("state"));
  if (backend.create("s1", R"({"workspace":{"source":)" + quote(folder.make("work")) + "}}") != BH_OK) {
    return 3;
  }
  if (backend.sh("s1", "echo on").out != "on\n") return 4;
  if (read("/proc/self/mountinfo") != before) return 5;
  // Nor does what the host mounts later come to be there, writable as it is.
  if (::mount("none", late.c_str(), "tmpfs", 0, nullptr) != 0) return 6;
  const bool made = ::close(::open((late + "/seen").c_str(), O_CREAT | O_WRONLY, 0644)) == 0;
  const bool seen = backend.sh("s1", "ls " + late).out.find("seen") != std::string::npos;
  if (::umount(late.c_str()) != 0 || !made) return 7;
  if (seen) return 8;
  if (backend.destroy("s1") != BH_OK) return 9;
  return read("/proc/self/mountinfo") == before ? 0 : 10;
}

}  // namespace

TEST_CASE("ns: on a host whose mounts are shared none is made, and none that comes later is seen") {
  BH_NEEDS("ns");
  if (::geteuid() != 0) BH_SKIP("an ordinary user has no mounts to share");
  Folder folder;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(among_shared_mounts(folder));
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
