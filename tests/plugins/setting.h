// What most tests of a backend begin with.
#pragma once

#include <string>

#include "support/catch.h"
#include "support/sandboxes.h"
#include "support/skip.h"

namespace bh_test {

// A sandbox "s1" of that backend, with a workspace of its own.
struct Setting {
  explicit Setting(const std::string& provider, const std::string& more = "")
      : backend(provider), work(folder.make("work")) {
    const std::string profile = R"({"workspace":{"source":)" + quote(work) + "}" + more + "}";
    const bh_status st = backend.create("s1", profile);
    INFO(backend.message);
    REQUIRE(st == BH_OK);
  }
  ~Setting() { CHECK(backend.destroy("s1") == BH_OK); }
  Folder folder;
  Backend backend;
  std::string work;
};

}  // namespace bh_test

// Where the backend cannot work, the test is skipped with its reason.
#define BH_NEEDS(provider)                                         \
  do {                                                             \
    const std::string why = Backend(provider).unavailable();       \
    if (!why.empty()) BH_SKIP(std::string(provider) + ": " + why); \
  } while (false)
