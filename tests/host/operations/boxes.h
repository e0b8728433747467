// What the tests over the plugin "obedient" share: its configuration, and looking into answers.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "base/json.h"
#include "support/embedder.h"

namespace bh_test {

constexpr const char kEnforced[] =
    R"({\"rules\":[{\"rule\":\"network.mode\",\"status\":\"enforced\"}]})";

// `more`: further members of the configuration, with a comma before each.
inline std::string boxes_at(const std::string& data_root, const std::string& more = {}) {
  return config_at(data_root,
                   R"(,"isolation":{"backend":"boxes","allow_unisolated":true,"config":{"boxes":{"report":")" +
                       std::string(kEnforced) + R"("},"process":{"report":"{\"rules\":[]}"}}})" + more);
}

inline std::string member_of(const std::string& text, const char* key) {
  auto o = bh::json::parse_object(text);
  return o ? std::string(bh::json::get_string(*o, key)) : "no object: " + text;
}

inline std::string boxes_log(const std::string& data_root, const char* backend = "boxes") {
  std::ifstream file(data_root + "/backends/" + backend + "/log");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::string named(const std::string& id, const std::string& more = {}) {
  return R"({"sandbox":")" + id + "\"" + more + "}";
}

}  // namespace bh_test
