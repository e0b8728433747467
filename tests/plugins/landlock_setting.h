// What the tests of the backend `landlock` share: a sandbox that holds the probe, and the same
// probe where nothing is in its way.
#pragma once

#include <filesystem>
#include <string>

#include "setting.h"

namespace bh_test {

#define BH_NEEDS_LANDLOCK                                      \
  do {                                                         \
    const std::string why = Backend("landlock").unavailable(); \
    if (!why.empty()) BH_SKIP("landlock: " + why);             \
  } while (false)

// A sandbox with the probe in its workspace, and the same without walls.
struct Walled {
  explicit Walled(const std::string& more = "") : in("landlock", more), out("process") {
    for (const auto& work : {in.work, out.work}) {
      std::filesystem::copy_file(BH_WALL_PROBE, work + "/probe");
    }
  }
  std::string inside(const std::string& object, const std::string& tries) {
    return in.backend.sh("s1", "./probe " + object + " " + tries).out;
  }
  std::string outside(const std::string& object, const std::string& tries) {
    return out.backend.sh("s1", "./probe " + object + " " + tries).out;
  }
  Setting in, out;
};

inline std::string all_same(const std::string& word, size_t n) {
  std::string text;
  for (size_t i = 0; i < n; ++i) text += (i == 0 ? "" : " ") + word;
  return text + "\n";
}

}  // namespace bh_test
