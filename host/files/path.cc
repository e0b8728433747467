#include "files/path.h"

#include <algorithm>

#include "base/json.h"
#include "base/utf8.h"

namespace bh {
namespace {

Failure invalid(std::string_view path, std::string_view field, const std::string& what) {
  static constexpr std::size_t kShown = 80;
  const bool whole = path.size() <= kShown;
  return fail(BH_INVALID_ARGUMENT,
              json::quote(path.substr(0, kShown)) + (whole ? " " : "... ") + what, "path_invalid",
              {{"field", field},
               {"remedy", "give a relative path of parts between single slashes, as notes/today.txt"}});
}

}  // namespace

Result<void> check_store_path(std::string_view path, std::string_view field, bool may_be_empty) {
  if (path.empty()) {
    if (may_be_empty) return {};
    return invalid(path, field, "names no file");
  }
  if (path.size() > kMaxStorePath) {
    return invalid(path, field,
                   "is longer than " + std::to_string(kMaxStorePath) + " bytes");
  }
  if (!utf8::valid(path)) return invalid(utf8::repair(path), field, "is not UTF-8");
  if (path.find('\0') != std::string_view::npos) return invalid(path, field, "holds a NUL byte");
  if (path.front() == '/') return invalid(path, field, "is absolute; paths of the file store are not");
  std::size_t parts = 0;
  for (std::size_t at = 0; at <= path.size(); parts++) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    if (part.empty()) return invalid(path, field, "has an empty part");
    if (part == "." || part == "..") return invalid(path, field, "has the part \"" + std::string(part) + "\"");
    if (part.size() > kMaxStorePart) {
      return invalid(path, field, "has a part longer than " + std::to_string(kMaxStorePart) + " bytes");
    }
    at = end + 1;
  }
  if (parts > kMaxStoreParts) {
    return invalid(path, field, "has more than " + std::to_string(kMaxStoreParts) + " parts");
  }
  return {};
}

Result<std::string> stored_path(const Session& session, std::string_view path) {
  const std::string& name = session.persona;
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  // Sessions take no other name. Should that ever change, nobody's files become another's.
  if (!plain) {
    return fail(BH_INTERNAL, "the persona " + json::quote(name) + " can have no files", "persona");
  }
  return path.empty() ? name : name + "/" + std::string(path);
}

}  // namespace bh
