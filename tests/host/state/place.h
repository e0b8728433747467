// Folders and records for the tests of this room.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "state/sandbox_records.h"

namespace bh_test {

// A folder below /tmp that goes with the test.
struct Place {
  Place() {
    char name[] = "/tmp/bh-state-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Place() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  std::string path;
};

inline bh::SandboxRecord sample(const std::string& id, const std::string& key = {}) {
  bh::SandboxRecord r;
  r.id = id;
  r.persona = std::string("p");
  r.backend = std::string("fake");
  r.default_key = key;
  r.state = std::string("running");
  r.created_ms = 1'700'000'000'123;
  r.profile = {{"root", {{"view", "host"}}}, {"limits", {{"cpu", 0.5}}}};
  r.report = {{"rules", bh::json::array()}};
  return r;
}

}  // namespace bh_test
