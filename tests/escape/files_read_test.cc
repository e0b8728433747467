// What must not be read: keys, other people's files, what a rule hides.
#include <sys/stat.h>
#include <unistd.h>

#include "row.h"

using namespace bh_test;
namespace fs = std::filesystem;

namespace {

// HOME for as long as the object lives; a provider reads it when it is opened.
class Home {
 public:
  Home() {
    const char* before = ::getenv("HOME");
    if (before != nullptr) old_ = before;
    ::chmod(folder_.path().c_str(), 0755);
    ::setenv("HOME", folder_.path().c_str(), 1);
  }
  ~Home() { ::setenv("HOME", old_.c_str(), 1); }
  const Folder& folder() const { return folder_; }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

 private:
  OpenFolder folder_;
  std::string old_;
};

const std::vector<std::string> kKeys = {".ssh/id_ed25519",
                                        ".aws/credentials",
                                        ".netrc",
                                        ".docker/config.json",
                                        ".kube/config",
                                        ".config/gh/hosts.yml",
                                        ".mozilla/firefox/logins.json",
                                        ".config/google-chrome/Default/Cookies",
                                        ".gnupg/private-keys",
                                        ".git-credentials"};

}  // namespace

BH_ROW("F7", "keys in HOME are hidden, each of them") {
  Home home;
  for (const auto& key : kKeys) home.folder().write(key, "KEY");
  home.folder().write("plain/seen", "seen");
  row.attacks(
      "hidden",
      [&](Cell& c) {
        c.spoken_of_by({"isolation.credentials", "isolation.hides"});
        Ways ways;
        for (const auto& key : kKeys) ways.push_back({key, "grep -q KEY " + home.path(key)});
        return ways;
      },
      [&](Cell& c) { CHECK(c.sh("cat " + home.path("plain/seen")).out == "seen"); });
}

BH_ROW("F7", "a hidden file stays hidden by whatever path") {
  Home home;
  const std::string key = home.folder().write(".ssh/id_ed25519", "KEY");
  row.attacks("hidden", [&](Cell& c) {
    c.spoken_of_by({"isolation.credentials", "isolation.hides"});
    return Ways{
        {"path", "grep -q KEY " + key},
        {"own root", "grep -q KEY /proc/self/root" + key},
        {"init's root", "grep -q KEY /proc/1/root" + key, Way::kNobody},
        {"own cwd", "grep -q KEY /proc/self/cwd/" + fs::relative(key, c.work).string()},
        {"parent's cwd", "grep -q KEY /proc/$PPID/cwd/" + fs::relative(key, c.work).string(),
         Way::kNobody},
        {"descriptor", "exec 9<" + home.path(".ssh") + "; grep -q KEY /dev/fd/9/id_ed25519"},
        {"link", "ln -s " + key + " l && grep -q KEY l"},
        {"hard link", "ln " + key + " h && grep -q KEY h"},
        {"move", "cd " + home.path("") +
                     " && mv .ssh x && { grep -q KEY x/id_ed25519; r=$?; "
                     "mv x .ssh; exit $r; }"},
        {"copy", "cp -r " + home.path(".ssh") + " copied && grep -q KEY copied/id_ed25519"},
        {"find", "find " + home.path("") + " -name 'id_*' | grep -q ."}};
  });
}

BH_ROW("F7", "what only root may read stays closed, and so does what a rule hides") {
  row.attacks("hidden", [&](Cell& c) {
    const std::string secret = c.folder.write("work/.env", "KEY");
    c.more_ = R"(,"files":[)" + rule(secret, "hide") + "]";
    c.spoken_of_by({"files:" + secret, "isolation.kernel_uid"});
    return Ways{{"shadow", "grep -q root /etc/shadow", Way::kRoot},
                {"gshadow", "grep -q root /etc/gshadow", Way::kRoot},
                {"rule", "grep -q KEY .env"},
                {"rule, own root", "grep -q KEY /proc/self/root" + secret},
                {"rule, linked", "ln .env e && grep -q KEY e"},
                {"rule, moved", "mv .env f && { grep -q KEY f; r=$?; mv f .env; exit $r; }"}};
  });
}

BH_ROW("F7", "our lines in /etc/passwd do not show what a profile hides or replaces") {
  Cell hidden(row.backend(), R"(,"files":[)" + rule("/etc/passwd", "hide") + "]");
  const bool seen = !hidden.sh("cat /etc/passwd; exit 0").out.empty();
  row.judge(seen, "hidden", {"files:/etc/passwd"}, hidden.report);
  Cell whole(row.backend(), R"(,"files":[)" + rule("/etc", "hide") + "]");
  const bool listed = !whole.sh("ls -A /etc; exit 0").out.empty();
  row.judge(listed, "hidden", {"files:/etc"}, whole.report);

  // Where the profile says nothing there is a name for the sandbox's own user.
  Cell plain(row.backend());
  CHECK(plain.sh("id -un").exit.exit_code == 0);
  if (!row.has_mounts()) return;
  OpenFolder folder;
  folder.write("names", "someone:x:1000:1000::/:/bin/sh\n");
  Cell replaced(row.backend(), R"(,"mounts":[{"source":)" + quote(folder.path() + "/names") +
                                   R"(,"path":"/etc/passwd","access":"ro"}])");
  CHECK(replaced.sh("cat /etc/passwd").out == "someone:x:1000:1000::/:/bin/sh\n");
}

BH_ROW("F8", "a hidden file with another hard link is reported, not promised") {
  row.attacks("refused", [](Cell& c) {
    c.folder.write("work/.env", "KEY");
    ::link((c.work + "/.env").c_str(), (c.work + "/notes").c_str());
    c.more_ = R"(,"files":[)" + rule(c.work + "/.env", "hide") + "]";
    c.spoken_of_by({"files:" + c.work + "/.env"});
    return Ways{{"other name", "grep -q KEY notes"}};
  });
}

BH_ROW("F10", "a pattern is no rule, and a rule about what is not there yet is told") {
  row.attacks("told", [](Cell& c) {
    c.more_ = R"(,"files":[)" + rule(c.work + "/**/*.env", "hide") + "," +
              rule(c.work + "/later.env", "hide") + "]";
    c.spoken_of_by({"files:" + c.work + "/**/*.env"});
    return Ways{
        {"made later", "mkdir -p sub && echo KEY > sub/new.env && grep -q KEY sub/new.env"}};
  });
  Cell cell(row.backend());
  cell.more_ = R"(,"files":[)" + rule(cell.work + "/later.env", "hide") + "]";
  REQUIRE(cell.make() == BH_OK);
  CHECK(rule_status(cell.report, "files:" + cell.work + "/later.env") != "enforced");
}

BH_ROW("F11", "a thousand rules hold, and none is lost to the length of a command line") {
  constexpr int kRules = 1000;
  row.attacks("hidden", [](Cell& c) {
    std::string rules;
    for (int i = 0; i < kRules; ++i) {
      const std::string path = c.folder.Folder::write(
          "work/d" + std::to_string(i % 50) + "/a-long-name-for-" + std::to_string(i) + ".env",
          "KEY");
      rules += (rules.empty() ? "" : ",") + rule(path, "hide");
    }
    c.more_ = R"(,"files":[)" + rules + "]";
    c.spoken_of_by({"files:" + c.work + "/d0/a-long-name-for-0.env"});
    return Ways{{"any", "cat d*/*.env | grep -q KEY"}};
  });
}

BH_ROW("F27", "of rules that overlap the most specific one wins") {
  row.attacks(
      "refused",
      [](Cell& c) {
        c.folder.write("work/ro/secret/key", "KEY");
        c.folder.write("work/ro/seen", "seen");
        c.folder.write("work/ro/rw/ro/file", "x");
        c.folder.write("work/rw/hidden/key", "KEY");
        c.folder.write("work/closed/open/file", "seen");
        c.folder.write("work/closed/key", "KEY");
        const auto at = [&](const char* name, const char* access) {
          c.spoken_of_by({"files:" + c.work + "/" + name});
          return rule(c.work + "/" + name, access);
        };
        c.more_ = R"(,"files":[)" + at("ro", "ro") + "," + at("ro/secret", "hide") + "," +
                  at("ro/rw", "rw") + "," + at("ro/rw/ro", "ro") + "," + at("rw/hidden", "hide") +
                  "," + at("closed", "hide") + "," + at("closed/open", "ro") + "]";
        return Ways{{"hidden in ro", "grep -q KEY ro/secret/key"},
                    {"hidden in rw", "grep -q KEY rw/hidden/key"},
                    {"hidden beside shown", "grep -q KEY closed/key"},
                    {"write ro", "echo x > ro/new"},
                    {"write ro in rw in ro", "echo x > ro/rw/ro/file"},
                    {"write in hidden", "echo x > closed/open/file"},
                    {"move", "mv ro/rw gone && mv gone ro/rw"}};
      },
      [&](Cell& c) {
        // And what the narrower rule gives is there. Without mounts nothing new can be made right
        // beside what is protected, and that is told.
        CHECK(c.sh("cat ro/seen").out == "seen");
        if (!row.has_mounts()) return;
        CHECK(c.sh("cat ro/seen closed/open/file; echo w > ro/rw/new && cat ro/rw/new").out ==
              "seenseenw\n");
      });
}
