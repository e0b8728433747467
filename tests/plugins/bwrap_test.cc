// The backend `bwrap`: what a profile becomes, seen from inside.
#include <sys/stat.h>
#include <unistd.h>

#include "support/catch.h"
#include "support/sandboxes.h"
#include "support/skip.h"

using namespace bh_test;

namespace {

std::string works() { return Backend("bwrap").unavailable(); }

#define BH_NEEDS_BWRAP                          \
  do {                                          \
    const std::string why = works();            \
    if (!why.empty()) BH_SKIP("bwrap: " + why); \
  } while (false)

std::string workspace_profile(const std::string& source, const std::string& more = "") {
  return R"({"workspace":{"source":)" + quote(source) + "}" + more + "}";
}

}  // namespace

TEST_CASE("the report has a line for every key that was given and every guarantee") {
  BH_NEEDS_BWRAP;
  Folder folder;
  const std::string work = folder.make("work");
  Backend backend("bwrap");
  const std::string profile =
      workspace_profile(work, R"(,"root":{"view":"host"},"network":{"mode":"off"},"persona":"a",
        "home":{"source":)" + quote(folder.make("home")) +
                                  R"(},"tmp":{"source":)" + quote(folder.make("tmp")) + R"(},
        "files":[{"path":"/usr/share","access":"hide"}],
        "mounts":[{"source":"/usr/bin","path":"/mnt/programs"}],
        "limits":{"cpu":1,"memory_bytes":1000000000,"pids":100,"disk_bytes":1000000000,
          "wall_ms":60000,"output_bytes":1000000,"open_files":256},
        "env":{"allow":["LANG"],"set":{"A":"b"}},"user":{"uid":1234,"gid":1234,"name":"someone"},
        "hide":["/opt"])");
  const std::string report = backend.plan(profile);
  INFO(backend.message);
  for (const std::string rule : {"root.view",
                                 "workspace",
                                 "home",
                                 "tmp",
                                 "network.mode",
                                 "files:/usr/share",
                                 "mounts:/mnt/programs",
                                 "limits.cpu",
                                 "limits.memory_bytes",
                                 "limits.pids",
                                 "limits.disk_bytes",
                                 "limits.wall_ms",
                                 "limits.output_bytes",
                                 "limits.open_files",
                                 "env.allow",
                                 "env.set",
                                 "user.uid",
                                 "user.gid",
                                 "user.name",
                                 "persona",
                                 "isolation.pid",
                                 "isolation.capabilities",
                                 "isolation.seccomp",
                                 "isolation.kernel_uid",
                                 "isolation.hides",
                                 "isolation.end"}) {
    CAPTURE(rule);
    CHECK_FALSE(rule_status(report, rule).empty());
  }
  CHECK(rule_status(report, "limits.disk_bytes") == "partial");
  CHECK(backend.list().empty());

  REQUIRE(backend.create("s1", profile) == BH_OK);
  CHECK(backend.report == report);
  CHECK(backend.sh("s1", "id -u; id -un; ls /usr/share; ls /mnt/programs/env; ulimit -n").out ==
        "1234\nsomeone\n/mnt/programs/env\n256\n");
  CHECK(backend.destroy("s1") == BH_OK);
}

TEST_CASE("a network that cannot be is refused, never widened") {
  BH_NEEDS_BWRAP;
  Backend backend("bwrap");
  for (const std::string mode : {"limited", "allowed_hosts"}) {
    const std::string profile = R"({"network":{"mode":")" + mode + R"(","allow":["example.org"]}})";
    CHECK(rule_status(backend.plan(profile), "network.mode") == "unsupported");
    CHECK(backend.create("s1", profile) == BH_FAILED_PRECONDITION);
    CHECK(backend.details.find("network.mode") != std::string::npos);
    CHECK(backend.destroy("s1") == BH_OK);
  }
}

TEST_CASE("a required rule that is not enforced means no sandbox") {
  BH_NEEDS_BWRAP;
  Backend backend("bwrap");
  CHECK(backend.create("s1", R"({"limits":{"disk_bytes":1},"required":["limits.disk_bytes"]})") ==
        BH_FAILED_PRECONDITION);
  CHECK(backend.details.find("limits.disk_bytes") != std::string::npos);
  CHECK(backend.destroy("s1") == BH_OK);
  CHECK(backend.create("s2", R"({"network":{"mode":"off"},"required":["network.mode"]})") == BH_OK);
  CHECK(backend.destroy("s2") == BH_OK);
}

TEST_CASE("workspace, home and tmp are written through; all else is read-only") {
  BH_NEEDS_BWRAP;
  Folder folder;
  const std::string work = folder.make("work"), home = folder.make("home"),
                    tmp = folder.make("tmp");
  struct stat before {};
  REQUIRE(::stat(work.c_str(), &before) == 0);
  Backend backend("bwrap");
  const std::string profile = workspace_profile(
      work, R"(,"home":{"source":)" + quote(home) + R"(},"tmp":{"source":)" + quote(tmp) + "}");
  REQUIRE(backend.create("s1", profile) == BH_OK);
  const Ran ran = backend.sh(
      "s1",
      "pwd; echo w > in_work; echo h > ~/in_home; echo t > /tmp/in_tmp; cat /var/tmp/in_tmp;"
      "for f in / /etc /usr /home /var /opt; do touch $f/bulkhead-x 2>/dev/null && echo $f; "
      "done; stat -c %u in_work; id -u");
  CHECK(ran.err.empty());
  const std::string uid = ran.out.substr(ran.out.rfind('\n', ran.out.size() - 2) + 1);
  CHECK(ran.out == work + "\nt\n" + uid + uid);
  CHECK(read(work + "/in_work") == "w\n");
  CHECK(read(home + "/in_home") == "h\n");
  CHECK(read(tmp + "/in_tmp") == "t\n");
  // On the host its files belong to whoever owns the folder.
  struct stat after {};
  REQUIRE(::stat((work + "/in_work").c_str(), &after) == 0);
  CHECK(after.st_uid == before.st_uid);
  CHECK(after.st_gid == before.st_gid);
  backend.release("s1");
  Backend later("bwrap", backend.state());
  REQUIRE(later.find("s1") == BH_OK);
  CHECK(later.sh("s1", "cat in_work ~/in_home /tmp/in_tmp").out == "w\nh\nt\n");
  CHECK(later.destroy("s1") == BH_OK);
  // What the host named stays the host's.
  CHECK(exists(home + "/in_home"));
}

TEST_CASE("without home and tmp a sandbox keeps its own, until it is destroyed") {
  BH_NEEDS_BWRAP;
  Backend backend("bwrap");
  REQUIRE(backend.create("s1", "{}") == BH_OK);
  CHECK(backend.sh("s1", "pwd; echo kept > ~/f; echo kept > /tmp/f").exit.exit_code == 0);
  CHECK(backend.sh("s1", "cat ~/f /tmp/f").out == "kept\nkept\n");
  CHECK(backend.destroy("s1") == BH_OK);
  CHECK_FALSE(exists(backend.state() + "/s1"));
}

TEST_CASE("the most specific rule about a path wins") {
  BH_NEEDS_BWRAP;
  Folder folder;
  const std::string work = folder.make("work");
  folder.write("work/ro/rw/hidden/seen", "1");
  folder.write("work/ro/file", "2");
  folder.write("work/secret/open/file", "3");
  folder.write("work/key", "4");
  Backend backend("bwrap");
  auto rule = [&](const std::string& path, const std::string& access) {
    return R"({"path":)" + quote(work + path) + R"(,"access":")" + access + "\"}";
  };
  REQUIRE(backend.create(
              "s1",
              workspace_profile(
                  work, R"(,"files":[)" + rule("/ro/rw", "rw") + "," + rule("/secret/open", "ro") +
                            "," + rule("/ro", "ro") + "," + rule("/ro/rw/hidden", "hide") + "," +
                            rule("/secret", "hide") + "," + rule("/key", "hide") + "]")) == BH_OK);
  for (const std::string path :
       {"/ro", "/ro/rw", "/ro/rw/hidden", "/secret", "/secret/open", "/key"}) {
    CHECK(rule_status(backend.report, "files:" + work + path) == "enforced");
  }
  const Ran ran = backend.sh(
      "s1",
      "t() { touch $1/x 2>/dev/null && echo \"$1 writable\"; }; t .; t ro; t ro/rw; "
      "t ro/rw/hidden; t secret; t secret/open; cat ro/file; echo; ls ro/rw/hidden; ls secret;"
      "cat secret/open/file; echo; cat key 2>/dev/null || echo no key");
  CHECK(ran.out == ". writable\nro/rw writable\n2\nopen\n3\nno key\n");
  CHECK(backend.destroy("s1") == BH_OK);
}

TEST_CASE("places inside that the host does not have") {
  BH_NEEDS_BWRAP;
  Folder folder;
  const std::string work = folder.make("work");
  folder.write("work/file", "x");
  Backend backend("bwrap");
  REQUIRE(backend.create(
              "s1", R"({"workspace":{"source":)" + quote(work) + R"(,"path":"/bulkhead-work/deep"},
                  "home":{"source":)" +
                        quote(folder.make("home")) +
                        R"(,"path":"/bulkhead-home"},
                  "mounts":[{"source":)" +
                        quote(work + "/file") + R"(,"path":"/bulkhead-work/single"}]})") == BH_OK);
  const Ran ran = backend.sh("s1",
                             "pwd; echo $HOME; ls; cat /bulkhead-work/single; echo; ls /usr | "
                             "grep -x bin; touch ~/x /bulkhead-y; test -e ~/x && echo home; "
                             "grep \"^$(id -un):\" /etc/passwd | cut -d: -f6");
  CHECK(ran.out == "/bulkhead-work/deep\n/bulkhead-home\nfile\nx\nbin\nhome\n/bulkhead-home\n");
  CHECK(backend.destroy("s1") == BH_OK);
  CHECK_FALSE(exists("/bulkhead-work"));
}

TEST_CASE("a workspace in HOME stands in HOME") {
  BH_NEEDS_BWRAP;
  Folder folder;
  Backend backend("bwrap");
  REQUIRE(backend.create("s1", R"({"home":{"source":)" + quote(folder.make("home")) +
                                   R"(,"path":"/home/agent"},"workspace":{"source":)" +
                                   quote(folder.make("work")) +
                                   R"(,"path":"/home/agent/project"}})") == BH_OK);
  const Ran ran = backend.sh("s1", "echo 1 > here; echo 2 > ../there; cd; ls project; pwd");
  CHECK(ran.out == "here\n/home/agent\n");
  CHECK(exists(folder.path() + "/work/here"));
  CHECK(exists(folder.path() + "/home/there"));
  CHECK(backend.destroy("s1") == BH_OK);
}

TEST_CASE("what a sandbox may not have is refused by name") {
  BH_NEEDS_BWRAP;
  Folder folder;
  const std::string work = folder.make("work");
  ::symlink("/etc", (work + "/link").c_str());
  Backend backend("bwrap");
  struct Case {
    std::string profile;
    bh_status code;
    std::string word;
  };
  const std::string data = folder.make("data/inner");
  const std::vector<Case> cases = {
      {R"({"workspace":{"source":"/"}})", BH_PERMISSION_DENIED, "workspace"},
      {R"({"workspace":{"source":"/etc"}})", BH_PERMISSION_DENIED, "workspace"},
      {R"({"workspace":{"source":"relative"}})", BH_INVALID_ARGUMENT, "workspace.source"},
      {R"({"workspace":{"source":"/no/such/folder"}})", BH_FAILED_PRECONDITION, "workspace"},
      {R"({"mounts":[{"source":"/usr","path":"/x","access":"rw"}]})", BH_PERMISSION_DENIED,
       "mounts:/x"},
      {R"({"files":[{"path":"~/x","access":"ro"}]})", BH_INVALID_ARGUMENT, "files.path"},
      {R"({"files":[{"path":"/a/../b","access":"ro"}]})", BH_INVALID_ARGUMENT, "files.path"},
      {R"({"files":[{"path":"/usr/x","access":"ro"},{"path":"/usr/x/","access":"hide"}]})",
       BH_INVALID_ARGUMENT, "files"},
      {R"({"user":{"name":"a:b"}})", BH_INVALID_ARGUMENT, "user.name"},
      {R"({"env":{"set":{"A=B":"x"}}})", BH_INVALID_ARGUMENT, "env.set"},
      {workspace_profile(work,
                         R"(,"files":[{"path":)" + quote(work + "/link") + R"(,"access":"hide"}])"),
       BH_FAILED_PRECONDITION, "/link"},
      {workspace_profile(
           work, R"(,"files":[{"path":)" + quote(work + "/link/passwd") + R"(,"access":"ro"}])"),
       BH_FAILED_PRECONDITION, "/link/passwd"},
      {workspace_profile(work, R"(,"hide":[)" + quote(folder.path() + "/data") +
                                   R"(],"mounts":[{"source":)" + quote(data) +
                                   R"(,"path":"/mnt"}])"),
       BH_PERMISSION_DENIED, "mounts:/mnt"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.profile);
    CHECK(backend.create("s1", one.profile) == one.code);
    INFO(backend.message);
    CHECK(backend.details.find(one.word) != std::string::npos);
    CHECK(backend.destroy("s1") == BH_OK);
  }
}

TEST_CASE("a missing bubblewrap says what to do") {
  Backend backend("bwrap");
  const std::string why = [] {
    try {
      Backend broken("bwrap", "", R"({"bwrap":"/no/such/bwrap"})");
      return std::string();
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
  }();
  CHECK(why.find("/no/such/bwrap") != std::string::npos);
}
