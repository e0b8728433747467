// A host with an image store, and what a test says and asks of it.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "archives.h"
#include "base/json.h"
#include "support/catch.h"
#include "support/embedder.h"
#include "support/skip.h"

namespace bh_test {

class Store {
 public:
  explicit Store(const std::string& more = "") : host(config_at(place.path + "/d", more)) {
    by_operator = host.open_session(R"({"operator":true})");
    REQUIRE(by_operator != nullptr);
  }
  ~Store() { bh_session_free(by_operator); }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // What lies beneath the place, for an import by path.
  std::string write(const std::string& name, const std::string& bytes) const {
    const std::string path = place.path + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  Answer import(const std::string& path, const std::string& more = "") {
    return host.call("image.import", R"({"path":")" + path + "\"" + more + "}", by_operator);
  }
  Answer import_bytes(const std::string& bytes, const std::string& more = R"(,"name":"i")") {
    return import(write("archive", bytes), more);
  }
  Answer send(const std::string& bytes, const std::string& args, bh_session* by = nullptr) {
    return host.call("image.import", args, by, bytes);
  }

  bh::json::object inspect(const std::string& image, bh_session* by = nullptr) {
    Answer answer = host.call("image.inspect", R"({"image":")" + image + "\"}",
                              by != nullptr ? by : by_operator);
    INFO(answer.fault.message);
    REQUIRE(answer.last == BH_EVENT_RESULT);
    return bh::json::parse_object(answer.result).value();
  }
  std::string root(const std::string& image = "i") {
    return std::string(bh::json::get_string(inspect(image), "root"));
  }
  std::size_t count(bh_session* by = nullptr) {
    return host.call("image.list", "{}", by != nullptr ? by : by_operator).items.size();
  }

  // What lies in the store's folder, whatever it is.
  std::vector<std::string> folders() const {
    std::vector<std::string> out;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(place.path + "/d/images", none)) {
      out.push_back(entry.path().filename());
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  Place place;
  Embedder host;
  bh_session* by_operator = nullptr;
};

inline std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

struct Looked {
  bool there = false;
  struct stat st {};
  unsigned mode() const { return st.st_mode & 07777u; }
};
inline Looked look(const std::string& path) {
  Looked out;
  out.there = ::lstat(path.c_str(), &out.st) == 0;
  return out;
}

// "a b/c d", of a tree.
inline std::string names_of(const std::string& root) {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    all.push_back(entry.path().string().substr(root.size() + 1));
  }
  std::sort(all.begin(), all.end());
  std::string out;
  for (const std::string& name : all) out += (out.empty() ? "" : " ") + name;
  return out;
}

inline bool done(const Answer& answer) {
  UNSCOPED_INFO(answer.fault.message);
  return answer.last == BH_EVENT_RESULT;
}

}  // namespace bh_test
