// What must not be written, moved or made: protected folders, dotfiles, what is read-only.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "row.h"

using namespace bh_test;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {
long entries(const std::string& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}
}  // namespace

BH_ROW("F3", "a protected folder cannot be moved out of the way") {
  row.attacks(
      "refused",
      [](Cell& c) {
        c.folder.write("work/.git/hooks/pre-commit", "good");
        c.more_ = R"(,"files":[)" + rule(c.work + "/.git/hooks", "ro") + "]";
        c.spoken_of_by({"files:" + c.work + "/.git/hooks"});
        return Ways{{"write", "echo evil > .git/hooks/pre-commit"},
                    {"make", "echo evil > .git/hooks/post-commit"},
                    {"move hooks", "mv .git/hooks .git/h && mv .git/h .git/hooks"},
                    {"move .git",
                     "mv .git .git2 && mkdir -p .git/hooks && echo evil > "
                     ".git/hooks/pre-commit"},
                    {"remove", "rm -rf .git && test ! -e .git"}};
      },
      [&](Cell& c) {
        CHECK(read(c.work + "/.git/hooks/pre-commit") == "good");
        if (!row.has_mounts()) return;
        const Ran ran = c.sh("echo fine > .git/index && cat .git/index; mv .git .git2");
        CHECK(ran.out == "fine\n");
      });
}

BH_ROW("F4", "protecting what does not exist leaves nothing on the host, and is told") {
  Cell cell(row.backend());
  std::string rules;
  for (const std::string name :
       {".mcp.json", ".vscode/tasks.json", ".envrc", ".git/hooks", ".claude/settings.json"}) {
    rules += (rules.empty() ? "" : ",") + rule(cell.work + "/" + name, "ro");
  }
  cell.more_ = R"(,"files":[)" + rules + "]";
  REQUIRE(cell.make() == BH_OK);
  CHECK(rule_status(cell.report, "files:" + cell.work + "/.mcp.json") == "partial");
  CHECK(cell.sh("ls -A").out == "probe\n");
  CHECK(entries(cell.work) == 1);
  row.is("told");

  // From the next command on it holds: what was made meanwhile is protected.
  CHECK(cell.sh("echo made > .envrc").exit.exit_code == 0);
  const bool changed = cell.sh("echo changed > .envrc").exit.exit_code == 0;
  row.judge(changed, "refused", {"files:" + cell.work + "/.envrc"}, cell.report);
  CHECK(cell.sh("echo on").out == "on\n");
  if (!row.has_mounts()) return;  // it closes the folder that holds what is protected
  // A link in its place neither leads elsewhere nor stops all further commands.
  CHECK(cell.sh("ln -s /etc/passwd .mcp.json && ls -A | wc -l").exit.exit_code == 0);
  CHECK(cell.sh("echo on").out == "on\n");
}

BH_ROW("F4", "a workspace below /tmp or HOME leaves no mount points in the persona's folders") {
  if (!row.has_mounts()) return row.not_applicable("no mounts, so nothing needs a mount point");
  OpenFolder folder;
  const std::string work = folder.make("work"), tmp = folder.make("tmp"),
                    home = folder.make("home");
  folder.write("tmp/kept", "x");
  Backend backend(row.backend());
  const auto profile = [&](const std::string& inside) {
    return R"({"workspace":{"source":)" + quote(work) + R"(,"path":)" + quote(inside) +
           R"(},"tmp":{"source":)" + quote(tmp) + R"(},"home":{"source":)" + quote(home) +
           R"(,"path":"/home/agent"}})";
  };
  REQUIRE(backend.create("s1", profile("/tmp/a/b/work")) == BH_OK);
  REQUIRE(backend.create("s2", profile("/home/agent/project")) == BH_OK);
  // While one command runs, another of the same folders ends: what the first stands on must stay.
  std::string seen[2];
  Command slow;
  slow.argv = {"sh", "-c",
               "echo on; : > began; until [ -e go ]; do sleep 0.02; done; echo 1 > "
               "/tmp/a/b/work/one && cat one"};
  slow.beside = [&](testing::FakeCall&) {
    for (int i = 0; i < 500 && !exists(work + "/began"); ++i) ::usleep(20000);
    Backend other(row.backend(), backend.state());
    (void)other.find("s1");
    for (std::string& one : seen) one = other.sh("s1", "pwd").out;
    folder.write("work/go", "");
  };
  CHECK(backend.run("s1", slow).out == "on\n1\n");
  for (const std::string& one : seen) CHECK(one == "/tmp/a/b/work\n");
  CHECK(backend.sh("s2", "echo 2 > two; pwd").out == "/home/agent/project\n");
  CHECK(read(work + "/one") == "1\n");
  CHECK(read(work + "/two") == "2\n");
  // What the sandbox put beside its workspace is its own, with the folder that holds it.
  CHECK(backend.sh("s1", "echo x > /tmp/a/mine").exit.exit_code == 0);
  CHECK(exists(tmp + "/a/mine"));
  CHECK(backend.destroy("s1") == BH_OK);
  CHECK(backend.destroy("s2") == BH_OK);
  CHECK_FALSE(exists(tmp + "/a/b"));
  CHECK(entries(tmp) == 2);
  CHECK(fs::is_empty(home));
  row.is("refused");
}

BH_ROW("F4", "no ghost files after the host was killed") {
  Cell cell(row.backend());
  cell.folder.write("work/keep/file", "x");
  cell.more_ = R"(,"files":[)" + rule(cell.work + "/keep/file", "hide") + "," +
               rule(cell.work + "/absent", "hide") + "]";
  REQUIRE(cell.make() == BH_OK);
  const std::string mark = fresh_mark();
  const pid_t host = ::fork();
  if (host == 0) {
    (void)cell.backend.sh("s1", "sleep " + mark);
    ::_exit(0);
  }
  REQUIRE(there("sleep" + std::string(1, '\0') + mark));
  ::kill(host, SIGKILL);
  ::waitpid(host, nullptr, 0);
  CHECK(gone("sleep" + std::string(1, '\0') + mark));
  CHECK(read(cell.work + "/keep/file") == "x");
  CHECK(entries(cell.work) == 2);
  row.is("refused");
}

BH_ROW("F5", "the host's dotfiles are not written, also where HOME of the sandbox is its own") {
  OpenFolder home;
  const char* before = ::getenv("HOME");
  const std::string old = before != nullptr ? before : "";
  const std::vector<std::string> names = {".bashrc",
                                          ".profile",
                                          ".zshrc",
                                          ".config/autostart/a",
                                          ".config/systemd/user/a.service",
                                          ".ssh/authorized_keys",
                                          ".gitconfig"};
  for (const auto& name : names) home.write(name, "good");
  ::setenv("HOME", home.path().c_str(), 1);
  row.attacks(
      "refused",
      [&](Cell& c) {
        c.spoken_of_by({"root.view"});
        Ways ways;
        for (const auto& name : names) {
          const std::string path = home.path() + "/" + name;
          ways.push_back({name, "echo evil >> " + path});
          ways.push_back({name + " replaced", "echo x > x && mv -f x " + path});
        }
        ways.push_back({"new", "echo evil > " + home.path() + "/.bash_login"});
        return ways;
      },
      [&](Cell& c) {
        // Its own HOME is writable, and is another.
        CHECK(c.sh("echo x > ~/.bashrc && cat ~/.bashrc").out == "x\n");
      });
  ::setenv("HOME", old.c_str(), 1);
}

BH_ROW("F6", "the folder that a .git file points to is as read-only as the rest of the host") {
  OpenFolder outside;
  outside.write("repo.git/hooks/pre-commit", "good");
  outside.write("repo.git/worktrees/w/HEAD", "ref: refs/heads/w");
  const std::string git = outside.path() + "/repo.git";
  const auto prepare = [&](Cell& c) {
    c.folder.write("work/.git", "gitdir: " + git + "/worktrees/w\n");
    c.spoken_of_by({"root.view"});
    return Ways{{"hook", "echo evil > " + git + "/hooks/pre-commit"},
                {"config", "echo evil > " + git + "/config"},
                {"worktree", "echo evil > \"$(cut -d' ' -f2 .git)\"/config"}};
  };
  row.attacks("refused", prepare);
  // A profile that gives the repository keeps its hooks by a rule: index and objects stay writable.
  if (!row.has_mounts()) return;
  outside.write("repo.git/hooks/pre-commit", "good");
  Cell given(row.backend());
  given.more_ = R"(,"mounts":[{"source":)" + quote(git) + R"(,"path":)" + quote(git) +
                R"(,"access":"rw"}],"files":[)" + rule(git + "/hooks", "ro") + "]";
  CHECK(given
            .sh("echo x > " + git + "/index && echo evil > " + git + "/hooks/pre-commit; cat " +
                git + "/index")
            .out == "x\n");
  CHECK(read(git + "/hooks/pre-commit") == "good");
}

BH_ROW("F9", "no hard link from a read-only place") {
  OpenFolder outside;
  const std::string file = outside.write("file", "x");
  row.attacks("refused", [&](Cell& c) {
    c.spoken_of_by({"root.view"});
    return Ways{{"ln", "ln " + file + " here"},
                {"mv", "mv " + file + " there && mv there " + file}};
  });
  CHECK(read(file) == "x");
}

BH_ROW("F15", "read-only means no mode, owner, time or attribute either") {
  OpenFolder outside;
  const std::string file = outside.write("file", "x");
  ::chmod(outside.path().c_str(), 0777);
  // Of the same owner as the workspace, so that no mode stands in the way.
  row.attacks("refused", [&](Cell& c) {
    c.spoken_of_by({"isolation.file_settings", "root.view"});
    return Ways{{"mode", "chmod 777 " + file},
                {"owner", "chown 1 " + file + " && chown 0 " + file, Way::kRoot},
                {"time", "touch -d 2001-01-01 " + file},
                {"attribute", "setfattr -n user.a -v b " + file +
                                  " || python3 -c 'import os,sys;"
                                  "os.setxattr(sys.argv[1],\"user.a\",b\"b\")' " +
                                  file},
                {"write", "echo y > " + file},
                {"truncate", "truncate -s 0 " + file + " && printf x > " + file},
                {"move", "mv " + file + " " + file + "2 && mv " + file + "2 " + file},
                {"remove", "rm -f " + file + " && printf x > " + file}};
  });
  Cell rules(row.backend());
  rules.folder.write("work/kept/file", "x");
  rules.more_ = R"(,"files":[)" + rule(rules.work + "/kept", "ro") + "]";
  const std::string kept = rules.work + "/kept";
  const Names worked = rules.tries({{"mode", "chmod 777 kept/file"},
                                    {"time", "touch -d 2001-01-01 kept/file"},
                                    {"write", "echo y > kept/file"},
                                    {"link", "ln kept/file here && echo y > here"},
                                    {"remove", "rm -f kept/file"}});
  row.judge(!worked.empty(), "refused", {"files:" + kept, "isolation.file_settings"}, rules.report);
}
