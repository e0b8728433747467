// The backend `landlock`, tried from the inside: what Landlock decides about files, and what the
// keeper decides where Landlock does not. What is refused there is done first where nothing is in
// the way.
#include <sys/stat.h>
#include <unistd.h>

#include "landlock_setting.h"

using namespace bh_test;

namespace {

// "mode links owner time" of a file, to see that nothing changed.
std::string facts(const std::string& path) {
  struct stat st {};
  REQUIRE(::lstat(path.c_str(), &st) == 0);
  return std::to_string(st.st_mode) + " " + std::to_string(st.st_nlink) + " " +
         std::to_string(st.st_uid) + " " + std::to_string(st.st_mtim.tv_sec);
}

const std::string kModes = "chmod fchmod fchmodat fchmodat2 chmod_by_descriptor";
const std::string kOwners = "chown lchown fchown fchownat";
const std::string kTimes =
    "utime utimes futimesat utimensat utimensat_link futimens utimensat_now";

}  // namespace

TEST_CASE("landlock walls: F15 a file that cannot be written keeps its mode, owner, times, flags") {
  BH_NEEDS_LANDLOCK;
  Walled w;
  Folder folder;
  ::chmod(folder.path().c_str(), 0755);
  const std::string file = folder.write("file", "text"), free = w.out.folder.write("free", "text");
  const std::string before = facts(file);
  CHECK(w.outside(free, kModes) == all_same("ok", 5));
  CHECK(w.outside(free, kOwners) == all_same("ok", 4));
  CHECK(w.outside(free, kTimes) == all_same("ok", 7));
  for (const std::string& object : {file, folder.path()}) {
    CHECK(w.inside(object, kModes) == all_same("1", 5));
    CHECK(w.inside(object, kOwners) == all_same("1", 4));
    CHECK(w.inside(object, kTimes) == all_same("1", 7));
  }
  CHECK(w.inside(file, "setxattr fsetxattr removexattr") == all_same("95", 3));
  CHECK(w.inside(file, "setflags subvolume") == all_same("1", 2));
  CHECK(w.inside(file, "truncate write link_here move_here handle") == "13 13 18 13 1\n");
  CHECK(w.inside(file, "open_truncate") == "13\n");
  CHECK(w.inside(file, "read watch") == "ok ok\n");
  CHECK(facts(file) == before);
  // Through every other name of it.
  w.in.backend.sh("s1", "ln -s " + file + " link; ln -s /proc/self/cwd up");
  CHECK(w.inside("link", "chmod fchmodat2 utimensat chown") == all_same("1", 4));
  CHECK(w.inside("up/link", "chmod") == "40\n");
  CHECK(w.inside("/proc/self/root" + file, "chmod utimensat") == "40 40\n");
  CHECK(facts(file) == before);
  // Devices can be written to and stay what they are.
  CHECK(w.inside("/dev/null", "write chmod chown utimensat") == "ok 1 1 1\n");
}

TEST_CASE("landlock walls: what is the sandbox's own can be changed in every way") {
  BH_NEEDS_LANDLOCK;
  Walled w;
  w.in.backend.sh("s1", "touch file; mkdir folder; ln -s file link");
  const std::string file = w.in.work + "/file", folder = w.in.work + "/folder";
  for (const std::string& object : {file, folder, w.in.work + "/link"}) {
    CHECK(w.inside(object, kModes) == all_same("ok", 5));
    CHECK(w.inside(object, kOwners) == all_same("ok", 4));
    CHECK(w.inside(object, kTimes) == all_same("ok", 7));
  }
  CHECK(w.inside("file", "chmod utimensat chown watch read write") == all_same("ok", 6));
  CHECK(facts(file).find(std::to_string(S_IFREG | 0711) + " ") == 0);
  CHECK(w.inside("missing", "chmod chown utimensat watch") == all_same("2", 4));
  // P15: but no file that runs as its owner.
  CHECK(w.in.backend.sh("s1", "chmod 4755 file; chmod 2755 file; stat -c %a file").out == "711\n");
  // As the owner of a file in the workspace decides, not the keeper.
  if (::geteuid() == 0) {
    REQUIRE(::chown(file.c_str(), 12345, 12345) == 0);
    CHECK(w.inside("file", "chmod chown") == "1 1\n");
  }
}

TEST_CASE("landlock walls: F12 a path that changes while it is asked about never leads outside") {
  BH_NEEDS_LANDLOCK;
  Walled w;
  Folder folder;
  ::chmod(folder.path().c_str(), 0755);
  const std::string file = folder.write("in/file", "text"), before = facts(file);
  const std::string flip = "mkdir in; touch in/file; ln -sfn in there; (while :; do "
                           "ln -sfn in a; mv -T a there; ln -sfn " +
                           folder.path() + "/in a; mv -T a there; done) & i=0; ";
  const std::string tries = "while [ $i -lt 200 ]; do "
                            "./probe there/file chmod fchmodat utimensat chown > last; "
                            "cat last >> all; i=$((i+1)); done 2>/dev/null; ";
  const std::string end = "kill $!; stat -c %a in/file";
  // Both ways were taken, and only the own one led somewhere.
  const Ran ran = w.in.backend.sh("s1", flip + tries + end);
  CHECK(ran.out == "711\n");
  CHECK(facts(file) == before);
  const std::string all = w.in.backend.sh("s1", "cat all").out;
  CHECK(all.find("ok") != std::string::npos);
  CHECK(all.find("1") != std::string::npos);
}

TEST_CASE("landlock walls: what is hidden cannot be read, listed, watched or moved") {
  BH_NEEDS_LANDLOCK;
  Folder data;
  ::chmod(data.path().c_str(), 0755);
  const std::string secret = data.write("other/secret", "text"), folder = data.path() + "/other";
  Walled w(R"(,"hide":[)" + quote(data.path()) + "]");
  CHECK(w.outside(secret, "read watch read_by_descriptor") == all_same("ok", 3));
  CHECK(w.inside(secret, "read watch read_by_descriptor write remove link_here move_here") ==
        "13 13 13 13 13 18 13\n");
  CHECK(w.inside(folder, "list watch") == "13 13\n");
  CHECK(w.inside(folder + "/new", "make") == "13\n");
  CHECK(w.inside(secret, kModes) == "1 9 1 1 1\n");
  CHECK(w.in.backend.sh("s1", "cat /proc/self/root" + secret + " || ls " + data.path() +
                                  " || cat /proc/1/root" + secret + " || echo nothing").out ==
        "nothing\n");
  CHECK(read(secret) == "text");
  // What the report says can be seen all the same.
  CHECK(w.in.backend.sh("s1", "stat -c %s " + secret).out == "4\n");
  CHECK(rule_status(w.in.backend.report, "isolation.hides") == "partial");

  // Two sandboxes of one backend, whose folders lie beside each other.
  REQUIRE(w.in.backend.create("s2", "{}") == BH_OK);
  const std::string theirs = w.in.backend.state() + "/s2/home";
  CHECK(w.in.backend.sh("s2", "echo mine > ~/f; cat ~/f").out == "mine\n");
  CHECK(w.in.backend.sh("s1", "cat " + theirs + "/f || ls " + theirs + " || ls " +
                                  w.in.backend.state() + " || echo nothing").out == "nothing\n");
  CHECK(w.in.backend.destroy("s2") == BH_OK);
}

TEST_CASE("landlock walls: keys in HOME") {
  BH_NEEDS_LANDLOCK;
  Folder home;
  home.write(".ssh/id_test", "key");
  home.write(".config/gh/hosts.yml", "key");
  home.write(".config/other", "text");
  ::chmod(home.path().c_str(), 0755);
  const std::string before = ::getenv("HOME") != nullptr ? ::getenv("HOME") : "";
  ::setenv("HOME", home.path().c_str(), 1);
  {
    Setting s("landlock");
    const Ran ran = s.backend.sh("s1", "cd " + home.path() + "; cat .config/other; for f in "
                                       ".ssh/id_test .config/gh/hosts.yml; do cat $f || echo no; "
                                       "done; ls .ssh .config || echo unlisted");
    CHECK(ran.out == "textno\nno\nunlisted\n");
  }
  ::setenv("HOME", before.c_str(), 1);
}

TEST_CASE("landlock walls: F20 the kernel's settings") {
  BH_NEEDS_LANDLOCK;
  Walled w;
  for (const std::string path : {"/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger",
                                 "/sys/kernel/uevent_helper", "/proc/self/oom_score_adj"}) {
    if (!exists(path)) continue;
    CAPTURE(path);
    CHECK(w.inside(path, "write") == "13\n");
  }
  for (const std::string path : {"/proc/cmdline", "/proc/kallsyms", "/proc/keys", "/dev/kmsg",
                                 "/proc/self/mountinfo", "/sys/fs/cgroup"}) {
    if (!exists(path)) continue;
    CAPTURE(path);
    CHECK(w.inside(path, "read") == "13\n");
  }
  CHECK(w.inside("/proc/meminfo", "read write") == "ok 13\n");
  CHECK(w.inside("/proc/sys/kernel/pid_max", "read write") == "ok 13\n");
}
