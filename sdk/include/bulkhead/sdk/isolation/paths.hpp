// bulkhead/sdk/isolation/paths.hpp - paths of rules: cleaned as text first, then made canonical
// once on the host, so that nothing later depends on what a link says at that moment.
#ifndef BULKHEAD_SDK_ISOLATION_PATHS_HPP
#define BULKHEAD_SDK_ISOLATION_PATHS_HPP

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "../result.hpp"
#include "fd.hpp"

namespace bulkhead::sdk::isolation {

// An absolute path without empty parts, "." and a slash at the end. ".." is refused: what it means
// depends on links.
inline Result<std::string> clean_path(std::string_view path, std::string_view field) {
  auto refuse = [&](const std::string& why, std::string_view remedy) {
    return failure(BH_INVALID_ARGUMENT, std::string(field) + " \"" + to_utf8(path) + "\" " + why,
                   "path", field, remedy);
  };
  if (path.empty() || path[0] != '/') {
    return refuse("is not absolute", "write it from / on; ~ and variables are not replaced");
  }
  if (path.find('\0') != std::string_view::npos) return refuse("holds a zero byte", "drop it");
  std::string out;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") return refuse("has a part \"..\"", "write the path that it leads to");
    out += '/';
    out += part;
  }
  return out.empty() ? std::string("/") : out;
}

// `path` is `folder` or lies in it. Both are clean.
inline bool is_within(std::string_view path, std::string_view folder) {
  if (folder == "/") return true;
  return path.substr(0, folder.size()) == folder &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}
// The rest of `path` below `folder`, without a slash in front; empty where they are the same.
inline std::string rest_of(std::string_view path, std::string_view folder) {
  if (path == folder) return {};
  return std::string(path.substr(folder == "/" ? 1 : folder.size() + 1));
}
inline std::string join(std::string_view folder, std::string_view rest) {
  if (rest.empty()) return std::string(folder);
  std::string out(folder == "/" ? "" : folder);
  out += '/';
  return out.append(rest);
}
inline std::string parent_of(std::string_view path) {
  const size_t cut = path.rfind('/');
  return cut == 0 || cut == std::string_view::npos ? "/" : std::string(path.substr(0, cut));
}
inline std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    if (end > at) parts.emplace_back(path.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}
// Sorts a folder right before what lies in it.
inline bool before(std::string_view a, std::string_view b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    auto rank = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c) + 1; };
    return rank(x) < rank(y);
  });
}
struct PathOrder {
  bool operator()(const std::string& a, const std::string& b) const { return before(a, b); }
};

// Where the links on the way lead: empty when nothing is there or it cannot be reached.
inline std::string canonical(const std::string& path) {
  // realpath asks about each part of the path, and most of the paths asked for are not there.
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0) return {};
  char* found = ::realpath(path.c_str(), nullptr);
  if (found == nullptr) return {};
  std::string out(found);
  std::free(found);
  return out;
}

// The same for a path of which only the first parts exist: those are made canonical, the rest
// stays as it is written.
inline std::string canonical_start(const std::string& path) {
  std::string head = path, tail;
  while (head != "/") {
    const std::string found = canonical(head);
    if (!found.empty()) return join(found, tail);
    const std::string parent = parent_of(head);
    tail = tail.empty() ? rest_of(head, parent) : join(rest_of(head, parent), tail);
    head = parent;
  }
  return join("/", tail);
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_PATHS_HPP
