// The sandbox's own settings, state, program and helper, as seen from inside.
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "row.h"

using namespace bh_test;
namespace fs = std::filesystem;

BH_ROW("P23",
       "the program that runs us, its plugin and its helper cannot be replaced from inside") {
  // The build tree as the workspace: this program lies in tests/, the plugin in plugins/.
  const std::string program = std::filesystem::canonical("/proc/self/exe");
  const std::string tests = std::filesystem::path(program).parent_path();
  const std::string tree = std::filesystem::path(tests).parent_path();
  const std::string folder_name = "isolation_" + row.backend();
  const std::string plugin = tree + "/plugins/" + folder_name;
  std::vector<std::string> files = {program, plugin + "/" + folder_name + ".so"};
  for (const auto& entry : fs::directory_iterator(plugin)) {
    const std::string name = entry.path().filename();
    if (name.rfind("bulkhead-", 0) == 0) files.push_back(entry.path());
  }
  REQUIRE(files.size() > 2);
  Backend backend(row.backend());
  const std::string profile =
      R"({"workspace":{"source":)" + quote(tree) + R"(},"files":[{"path":)" + quote(plugin) +
      R"(,"access":"rw"},{"path":)" + quote(program) + R"(,"access":"rw"}]})";
  const bh_status made = backend.create("s1", profile);
  INFO(backend.message);
  REQUIRE(made == BH_OK);
  const std::string status = rule_status(backend.report, "isolation.own_program");
  CHECK_FALSE(status.empty());
  if (status != "enforced") {
    CHECK_FALSE(row.has_mounts());
    row.judge(true, "refused", {"isolation.own_program"}, backend.report);
    CHECK(backend.destroy("s1") == BH_OK);
    return;
  }
  // Nothing here changes a file, should it be let through.
  for (const std::string& file : files) {
    CAPTURE(file);
    CHECK(backend.sh("s1", ": >> '" + file + "'").exit.exit_code != 0);
    CHECK(backend.sh("s1", "ln '" + file + "' '" + tree + "/linked' && rm '" + tree + "/linked'")
              .exit.exit_code != 0);
  }
  for (const std::string& folder : {tests, plugin}) {
    CAPTURE(folder);
    CHECK(backend.sh("s1", "mkdir '" + folder + "/x' && rmdir '" + folder + "/x'").exit.exit_code !=
          0);
    CHECK(backend
              .sh("s1",
                  "mv '" + folder + "' '" + folder + "2' && mv '" + folder + "2' '" + folder + "'")
              .exit.exit_code != 0);
  }
  // The folder above must stay where it is too; what else is in the tree is as writable as ever.
  CHECK(backend.sh("s1", "mv plugins plugins2 && mv plugins2 plugins").exit.exit_code != 0);
  if (::access(tree.c_str(), W_OK) == 0 && row.has_mounts()) {
    const std::string name = "made-" + std::to_string(::getpid());
    CHECK(backend.sh("s1", "echo x > " + name + " && rm " + name).exit.exit_code == 0);
  }
  CHECK(backend.destroy("s1") == BH_OK);
  row.is("refused");
}

BH_ROW("P23", "right in the workspace the program's file alone is kept, and that is told") {
  const std::string program = std::filesystem::canonical("/proc/self/exe");
  const std::string tests = std::filesystem::path(program).parent_path();
  Backend backend(row.backend());
  const bh_status made = backend.create("s1", R"({"workspace":{"source":)" + quote(tests) + "}}");
  INFO(backend.message);
  REQUIRE(made == BH_OK);
  CHECK(rule_status(backend.report, "isolation.own_program") != "enforced");
  if (rule_status(backend.report, "isolation.own_program") == "unsupported") {
    CHECK_FALSE(row.has_mounts());
    CHECK(backend.destroy("s1") == BH_OK);
    return row.is("not enforced (told)");
  }
  CHECK(backend.sh("s1", ": >> '" + program + "'").exit.exit_code != 0);
  CHECK(backend.sh("s1", "mv '" + program + "' x && mv x '" + program + "'").exit.exit_code != 0);
  CHECK(backend.destroy("s1") == BH_OK);
  row.is("told");
}

BH_ROW("P23", "the state of the sandbox, where its rules are kept, is not there") {
  Folder state;
  row.attack("hidden", [&](Cell& c) {
    // The host names its data folder among what is hidden; the backend's state lies in it.
    c.spoken_of_by({"isolation.hides"});
    if (c.free()) return !c.sh("find " + c.backend.state() + " -type f | head -1").out.empty();
    Cell inner(c.provider_, R"(,"hide":[)" + quote(state.path()) + "]", "s1",
               state.make("backend"));
    const Ran ran =
        inner.sh("find " + state.path() + "/backend -type f | head -1; echo x > " + state.path() +
                 "/backend/s1/profile && echo written; rm -rf " + state.path() +
                 "/backend/s1 && ls " + state.path() + "/backend; exit 0");
    c.report = inner.report;
    CAPTURE(ran.out);
    CHECK(inner.backend.sh("s1", "echo on").out == "on\n");
    return !ran.out.empty();
  });
}

BH_ROW("A13", "files of an image that run as their owner, or are devices, give nothing") {
  // Unpacking an image is the host's work, with tests of its own (tests/host/images). What is
  // tried here is that a root with such files in it would not matter, or is refused.
  Cell cell(row.backend());
  const std::string profile =
      R"({"root":{"image":"absent"},"workspace":{"source":)" + quote(cell.work) + "}}";
  Backend backend(row.backend());
  const bh_status made = backend.create("s1", profile);
  CHECK(made != BH_OK);
  CHECK(backend.destroy("s1") == BH_OK);
  if (!row.as_root()) {
    return row.not_applicable("an ordinary user has no files of root's to put into an image");
  }
  OpenFolder folder;
  fs::copy_file(BH_PROBE, folder.path() + "/as-root");
  ::chmod((folder.path() + "/as-root").c_str(), 04755);
  REQUIRE(::mknod((folder.path() + "/zero").c_str(), S_IFCHR | 0666, makedev(1, 5)) == 0);
  {
    Cell free("process");
    CHECK(free.sh("head -c 1 " + folder.path() + "/zero | wc -c").out == "1\n");
  }
  Cell inside(row.backend(), R"(,"user":{"uid":1234,"gid":1234})");
  const Ran device = inside.sh("head -c 1 " + folder.path() + "/zero | wc -c");
  row.judge(device.out == "1\n", "refused", {"isolation.devices"}, inside.report);
  const Ran who = inside.sh(folder.path() + "/as-root who");
  row.judge(who.out == "who 0\n", "refused", {"user.uid"}, inside.report);
}

BH_ROW("A17", "a plugin that is changed between check and load") {
  row.not_applicable("of the loader, not of a sandbox: tests/host/loader; limits in SECURITY.md");
}
