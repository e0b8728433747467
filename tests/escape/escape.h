// What the escape tests share: a sandbox of `bwrap` with a workspace that holds the probe.
#pragma once

#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include "support/catch.h"
#include "support/sandboxes.h"
#include "support/skip.h"

namespace bh_test {

// Why no sandbox starts here; empty: one does.
inline std::string no_bwrap() {
  static const std::string why = Backend("bwrap").unavailable();
  return why;
}

#define BH_NEEDS_BWRAP                                        \
  do {                                                        \
    if (!no_bwrap().empty()) BH_SKIP("bwrap: " + no_bwrap()); \
  } while (false)

struct Cell {
  // `more`: further keys of the profile, with a comma in front. `prepare` runs before create().
  explicit Cell(const std::string& more = "", const std::string& id = "s1",
                const std::string& state = "")
      : backend("bwrap", state), id_(id), work(folder.make("work")) {
    std::filesystem::copy_file(BH_PROBE, work + "/probe");
    more_ = more;
  }
  ~Cell() {
    if (made_) CHECK(backend.destroy(id_) == BH_OK);
  }
  bh_status make() {
    const std::string profile = R"({"workspace":{"source":)" + quote(work) + "}" + more_ + "}";
    const bh_status st = backend.create(id_, profile);
    made_ = true;
    return st;
  }
  // With everything made on first use.
  Ran sh(const std::string& script) {
    if (!made_) {
      const bh_status st = make();
      INFO(backend.message);
      REQUIRE(st == BH_OK);
    }
    return backend.sh(id_, script);
  }
  // Lines "NAME RESULT" of the probe.
  std::map<std::string, std::string> probe(const std::string& arguments) {
    std::map<std::string, std::string> out;
    std::istringstream lines(sh("./probe " + arguments).out);
    for (std::string name, result; lines >> name >> result;) out[name] = result;
    return out;
  }

  Folder folder;
  Backend backend;
  std::string id_, work, more_;

 private:
  bool made_ = false;
};

}  // namespace bh_test
