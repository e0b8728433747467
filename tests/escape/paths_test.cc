// Paths of the profile: links, spelling, working folders, places that are no workspace.
#include <sys/stat.h>
#include <unistd.h>

#include "row.h"

using namespace bh_test;
namespace fs = std::filesystem;

BH_ROW("F1", "nothing is made on the host through a link in the workspace") {
  {
    OpenFolder folder;  // the control: a plain program follows such a link
    folder.make("outside");
    ::symlink((folder.path() + "/outside").c_str(), (folder.path() + "/out").c_str());
    fs::create_directories(folder.path() + "/out/made");
    CHECK(exists(folder.path() + "/outside/made"));
  }
  Cell cell(row.backend());
  const std::string outside = cell.folder.make("outside");
  ::symlink(outside.c_str(), (cell.work + "/out").c_str());
  ::symlink(("/oldroot" + outside).c_str(), (cell.work + "/old").c_str());
  for (const std::string path : {"/out/made", "/old/made", "/out", "/old"}) {
    for (const std::string& more :
         {R"(,"mounts":[{"source":"/usr/bin","path":)" + quote(cell.work + path) + "}]",
          R"(,"files":[)" + rule(cell.work + path, "hide") + "]"}) {
      CAPTURE(path, more);
      cell.more_ = more;
      const bh_status made = cell.make();
      if (made == BH_OK) {
        // Only a backend that mounts nothing may go on, and says that it does not hold.
        const bool mount = more.find("mounts") != std::string::npos;
        const std::string name = (mount ? "mounts:" : "files:") + cell.work + path;
        CHECK_FALSE(row.has_mounts());
        CHECK(rule_status(cell.report, name) != "enforced");
        CHECK(cell.backend.sh("s1", "true").status == BH_OK);
      } else {
        CHECK(made == BH_FAILED_PRECONDITION);
      }
      CHECK(cell.backend.destroy("s1") == BH_OK);
      CHECK(fs::is_empty(outside));
    }
  }
  row.is("refused");
}

BH_ROW("F2", "a protected path that is a link is refused or kept, never followed") {
  const auto prepare = [](Cell& c) {
    c.folder.write("outside/config", "good");
    ::symlink((c.folder.path() + "/outside").c_str(), (c.work + "/.codex").c_str());
    c.more_ = R"(,"files":[)" + rule(c.work + "/.codex", "ro") + "]";
    c.spoken_of_by({"files:" + c.work + "/.codex"});
    return Ways{{"replace", "mv .codex .old && mkdir .codex && echo evil > .codex/config"}};
  };
  Cell cell(row.backend());
  (void)prepare(cell);
  const bh_status made = cell.make();
  if (made != BH_OK) {
    CHECK(made == BH_FAILED_PRECONDITION);
    CHECK(cell.backend.details.find("files") != std::string::npos);
    Cell free("process");
    CHECK(free.tries(prepare(free)).count("replace") == 1);
    row.is("refused");
    return;
  }
  row.attacks("refused", prepare);
  CHECK(read(cell.folder.path() + "/outside/config") == "good");
}

BH_ROW("F24", "a hidden folder is hidden under its other names too") {
  row.attacks("hidden", [](Cell& c) {
    c.folder.write("real/secret", "KEY");
    const std::string real = c.folder.path() + "/real", link = c.folder.path() + "/other";
    ::symlink(real.c_str(), link.c_str());
    // The rule is spelled with the link; what it leads to is meant.
    c.more_ = R"(,"files":[)" + rule(link, "hide") + "]";
    c.spoken_of_by({"files:" + link});
    return Ways{{"as spelled", "grep -q KEY " + link + "/secret"},
                {"real name", "grep -q KEY " + real + "/secret"},
                {"own link", "ln -s " + real + " mine && grep -q KEY mine/secret"}};
  });
  row.note("no file system here ignores case; names are compared by what they lead to");
}

BH_ROW("F25", "the working folder never widens what can be written") {
  row.attack("refused", [](Cell& c) {
    OpenFolder outside;
    const std::string in = R"({"cwd":)" + quote(outside.path()) + "}";
    c.spoken_of_by({"root.view"});
    return c.sh("touch made", in).exit.exit_code == 0;
  });
  Cell cell(row.backend());
  cell.folder.make("work/gone");
  const std::string outside = cell.folder.make("outside");
  ::symlink(outside.c_str(), (cell.work + "/link").c_str());
  CHECK(cell.sh("pwd", R"({"cwd":"/usr"})").out == "/usr\n");
  const Ran linked = cell.sh("touch made", R"({"cwd":)" + quote(cell.work + "/link") + "}");
  CHECK(linked.exit.exit_code != 0);
  CHECK(fs::is_empty(outside));
  ::rmdir((cell.work + "/gone").c_str());
  const Ran gone = cell.sh("echo ran", R"({"cwd":)" + quote(cell.work + "/gone") + "}");
  CHECK(gone.out.empty());
  CHECK(gone.status != BH_OK);
  CHECK_FALSE(gone.message.empty());
}

BH_ROW("F25", "the workspace itself was renamed or became a link before the next start") {
  for (const bool link : {false, true}) {
    CAPTURE(link);
    Cell cell(row.backend());
    const std::string outside = cell.folder.make("outside");
    CHECK(cell.sh("true").exit.exit_code == 0);
    fs::rename(cell.work, cell.work + "2");
    if (link) fs::create_directory_symlink(outside, cell.work);
    const Ran ran = cell.sh("touch made; echo ran");
    CHECK(fs::is_empty(outside));
    // A backend that holds what it mounted goes on with that, and writes nowhere else.
    if (ran.status == BH_OK) continue;
    CHECK(ran.out.empty());
    CHECK_FALSE(ran.message.empty());
  }
  row.is("refused");
}

BH_ROW("F26", "/ is no workspace, nor are the system's folders") {
  for (const char* path : {"/", "/etc", "/usr", "/var", "/home", "/proc", "/sys", "/dev"}) {
    CAPTURE(path);
    Backend backend(row.backend());
    const bh_status made =
        backend.create("s1", std::string(R"({"workspace":{"source":)") + quote(path) + "}}");
    CHECK((made == BH_PERMISSION_DENIED || made == BH_INVALID_ARGUMENT ||
           made == BH_FAILED_PRECONDITION));
    CHECK(backend.details.find("workspace") != std::string::npos);
    CHECK(backend.destroy("s1") == BH_OK);
  }
  row.is("refused");
}

BH_ROW("F26", "HOME as the workspace shows no keys, and starts") {
  OpenFolder home;
  const char* before = ::getenv("HOME");
  const std::string old = before != nullptr ? before : "";
  ::setenv("HOME", home.path().c_str(), 1);
  home.write(".ssh/id_ed25519", "KEY");
  home.write(".netrc", "KEY");
  home.write("project", "seen");
  ::symlink("/absent", (home.path() + "/.dangling").c_str());
  const auto after = [&](Cell& c) {
    CHECK(c.sh("cat project").out == "seen");
    if (row.has_mounts()) CHECK(c.sh("echo x > new && cat new").out == "x\n");
  };
  row.attacks(
      "hidden",
      [&](Cell& c) {
        c.work = home.path();
        c.spoken_of_by({"isolation.credentials", "isolation.hides"});
        return Ways{{"ssh", "grep -q KEY .ssh/id_ed25519"}, {"netrc", "grep -q KEY .netrc"}};
      },
      after);
  ::setenv("HOME", old.c_str(), 1);
}

BH_ROW("F28", "a rule spelled in another way has the same effect, or is refused at once") {
  // Each hides the same folder, or is an error that names the field; none is silently nothing.
  int held = 0, refused = 0;
  for (const std::string spelling :
       {"W/secret/", "W//secret", "W/./secret", "/W/secret", "W/secret/../secret", "~/secret",
        "$HOME/secret", "secret", "./secret", "~/.gnupg/**", "//**", ""}) {
    CAPTURE(spelling);
    Cell cell(row.backend());
    cell.folder.write("work/secret/key", "KEY");
    std::string path = spelling;
    if (const size_t at = path.find('W'); at != std::string::npos) path.replace(at, 1, cell.work);
    cell.more_ = R"(,"files":[)" + rule(path, "hide") + "]";
    const bh_status made = cell.make();
    if (made != BH_OK) {
      CHECK(made == BH_INVALID_ARGUMENT);
      CHECK(cell.backend.details.find("files.path") != std::string::npos);
      ++refused;
      continue;
    }
    const bool resolved = rule_status(cell.report, "files:" + cell.work + "/secret") != "";
    const bool other = rule_status(cell.report, "files:/**") != "";
    CHECK(resolved != other);
    const bool seen = cell.backend.sh("s1", "cat secret/key; exit 0").out == "KEY";
    if (resolved) row.judge(seen, "hidden", {"files:" + cell.work + "/secret"}, cell.report);
    if (resolved) ++held;
  }
  CHECK(held >= 3);
  CHECK(refused >= 5);
}

BH_ROW("F29", "folders that are links keep their rules, and odd links stop nothing") {
  row.attacks(
      "hidden",
      [](Cell& c) {
        c.folder.write("dotfiles/ssh/key", "KEY");
        ::symlink((c.folder.path() + "/dotfiles").c_str(), (c.folder.path() + "/managed").c_str());
        ::symlink("absent", (c.work + "/dangling").c_str());
        ::symlink("loop", (c.work + "/loop").c_str());
        ::symlink("../../..", (c.work + "/up").c_str());
        ::symlink("/proc/self/root", (c.work + "/root").c_str());
        c.folder.make("work/.claude");
        ::symlink("../skills", (c.work + "/.claude/skills").c_str());
        c.more_ = R"(,"files":[)" + rule(c.folder.path() + "/managed/ssh", "hide") + "]";
        c.spoken_of_by({"files:" + c.folder.path() + "/managed/ssh"});
        return Ways{{"by the link", "grep -q KEY " + c.folder.path() + "/managed/ssh/key"},
                    {"by the place", "grep -q KEY " + c.folder.path() + "/dotfiles/ssh/key"},
                    {"by root", "grep -q KEY root" + c.folder.path() + "/dotfiles/ssh/key"}};
      },
      [](Cell& c) { CHECK(c.sh("ls -A | wc -l; echo on > new && cat new").out == "6\non\n"); });
}

BH_ROW("F30", "our own state below a masked path, or below /tmp, does not stop a command") {
  Folder state("/tmp");
  Cell cell(row.backend(), R"(,"hide":[)" + quote(state.path()) + "]", "s1",
            state.path() + "/backend");
  fs::create_directories(state.path() + "/backend");
  // Before Linux 6.3 a /tmp in memory cannot be mounted with other ids: refused, and told.
  if (cell.make() != BH_OK) {
    INFO(cell.backend.message);
    CHECK(cell.backend.details.find("\"unmapped\"") != std::string::npos);
    BH_ROW_SKIP("this kernel cannot mount what /tmp lies on with other ids");
  }
  CHECK(cell.sh("echo on").out == "on\n");
  {
    Cell free("process");
    CHECK(free.sh("ls " + state.path()).out == "backend\n");
  }
  const bool seen = cell.sh("ls " + state.path() + "; exit 0").out == "backend\n";
  row.judge(seen, "hidden", {"isolation.hides"}, cell.report);
}
