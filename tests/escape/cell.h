// A sandbox of one backend with a workspace that holds the probe, and what was tried in it.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/sandboxes.h"
#include "support/skip.h"

namespace bh_test {

// One way to do what must not be done: a shell command that ends with 0 when it worked.
struct Way {
  std::string name, command;
  // Who can do it without any sandbox.
  enum { kAll, kRoot, kNobody } works = kAll;
};
using Ways = std::vector<Way>;
using Names = std::set<std::string>;

// A folder of the host that everybody may use, so that what keeps a sandbox out of it is the
// sandbox and not the folder's mode.
class OpenFolder : public Folder {
 public:
  explicit OpenFolder(const std::string& below = scratch()) : Folder(below) { open_up(path()); }
  std::string make(const std::string& name) const {
    const std::string made = Folder::make(name);
    open_up(path());
    return made;
  }
  std::string write(const std::string& name, const std::string& text) const {
    const std::string made = Folder::write(name, text);
    open_up(path());
    return made;
  }

 private:
  static void open_up(const std::string& top) {
    namespace fs = std::filesystem;
    fs::permissions(top, fs::perms::all);
    for (const auto& entry : fs::recursive_directory_iterator(top)) {
      std::error_code error;
      if (entry.is_symlink(error)) continue;
      const bool plain = entry.is_regular_file(error) && entry.path().filename() != "probe";
      fs::permissions(entry.path(), plain ? fs::perms(0666) : fs::perms::all, error);
    }
  }
};

struct Cell {
  // `more`: further keys of the profile, with a comma in front. `prepare` runs before create().
  explicit Cell(const std::string& provider, const std::string& more = "",
                const std::string& id = "s1", const std::string& state = "")
      : provider_(provider), backend(provider, state), id_(id), work(folder.make("work")) {
    std::filesystem::copy_file(BH_PROBE, work + "/probe");
    more_ = more;
  }
  ~Cell() {
    if (made_) CHECK(backend.destroy(id_) == BH_OK);
  }
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  bool free() const { return provider_ == "process"; }
  std::string profile() const {
    return R"({"workspace":{"source":)" + quote(work) + "}" + more_ + "}";
  }
  bh_status make() {
    const bh_status st = backend.create(id_, profile());
    if (st == BH_OK) report = backend.report;
    made_ = true;
    return st;
  }
  // With everything made on first use.
  Ran sh(const std::string& script, const std::string& options = "{}") {
    if (!made_) {
      const bh_status st = make();
      INFO(backend.message);
      REQUIRE(st == BH_OK);
    }
    return backend.sh(id_, script, options);
  }
  // Lines "NAME RESULT" of the probe.
  std::map<std::string, std::string> probe(const std::string& arguments) {
    std::map<std::string, std::string> out;
    std::istringstream lines(sh("./probe " + arguments).out);
    for (std::string name, result; lines >> name >> result;) out[name] = result;
    return out;
  }
  // The names of the ways that worked, each in a shell of its own.
  Names tries(const Ways& ways) {
    std::string script;
    for (const Way& way : ways) {
      script +=
          "( " + way.command + "\n) </dev/null >/dev/null 2>&1 && echo \"" + way.name + "\"\n";
    }
    const Ran ran = sh(script + "echo tried\n");
    INFO(ran.message << ran.err);
    REQUIRE(ran.out.find("tried\n") != std::string::npos);
    Names out;
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) out.insert(line);
    out.erase("tried");
    return out;
  }
  // The rules that speak of what is tried: where a way works, one of them must be said not to hold.
  Cell& spoken_of_by(const std::vector<std::string>& rules) {
    rules_.insert(rules_.end(), rules.begin(), rules.end());
    return *this;
  }

  const std::string provider_;
  OpenFolder folder;
  Backend backend;
  std::string id_, work, more_, report;
  std::vector<std::string> rules_;

 private:
  bool made_ = false;
};

inline std::string rule(const std::string& path, const std::string& access) {
  return R"({"path":)" + quote(path) + R"(,"access":")" + access + "\"}";
}

// Runs `what` in a child process, for what would change this one, and returns its text; "threw" or
// "ended" where it did not come to that.
std::string in_child(const std::function<std::string()>& what);

// Processes of this machine whose command line holds `mark`, without ourselves.
int processes_with(const std::string& mark);
// Waits up to five seconds for none, or for `wanted`.
bool gone(const std::string& mark);
bool there(const std::string& mark, int wanted = 1);
void kill_all_with(const std::string& mark);
// A text that no other process has in its command line, and that `sleep` takes as a time.
std::string fresh_mark();
// Descriptors that this process holds.
int open_descriptors();

}  // namespace bh_test
