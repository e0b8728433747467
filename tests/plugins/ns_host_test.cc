// What sandboxes must leave as it is on the host: its mounts, and who its files run as.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bulkhead/sdk/isolation/sub_ids.hpp>

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

TEST_CASE("ns: with package managers' capabilities too, nothing made in a folder that others reach runs as its owner") {
  BH_NEEDS("ns");
  Folder folder;
  const std::string script = "cp /bin/sh own && chmod 6755 own && echo made; chmod 0755 own && echo plain";
  auto made = [&](const std::string& name, std::string& report) {
    Backend backend("ns");
    const std::string work = folder.make(name);
    const std::string profile = R"({"capabilities":"packages","user":{"uid":0},"workspace":{"source":)" +
                                quote(work) + "}}";
    const bh_status st = backend.create(name, profile);
    INFO(backend.message << backend.details);
    REQUIRE(st == BH_OK);
    report = backend.report;
    const std::string out = backend.sh(name, script).out;
    CHECK(backend.destroy(name) == BH_OK);
    return out;
  };
  std::string report;
  // By root, or by a user with ids for it.
  const bool root = ::geteuid() == 0 || bulkhead::sdk::isolation::find_sub_ids().usable();
  // Above it is a folder that is closed to others.
  CHECK(made("closed", report) == (root ? "made\nplain\n" : "plain\n"));
  if (root) CHECK(rule_status(report, "capabilities") == "enforced");
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  CHECK(made("open", report) == "plain\n");
  if (root) CHECK(rule_status(report, "capabilities") == "partial");
}
