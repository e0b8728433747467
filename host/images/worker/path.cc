#include "images/worker/path.h"

#include <limits.h>

#include <algorithm>

#include "base/json.h"
#include "base/utf8.h"

namespace bh::unpack {

std::string shown(std::string_view name) {
  constexpr std::size_t kShown = 120;
  const bool whole = name.size() <= kShown;
  return json::quote(utf8::repair(std::string(name.substr(0, kShown)))) + (whole ? "" : "...");
}

Failure unsafe(std::string_view entry, const std::string& what) {
  return fail(BH_INVALID_ARGUMENT, "the image is refused: its entry " + shown(entry) + " " + what,
              "image_unsafe", {{"entry", utf8::repair(std::string(entry.substr(0, 4096)))}});
}

Failure broken(std::string_view entry, const std::string& what) {
  return fail(BH_DATA_LOSS,
              "the image is broken: " + (entry.empty() ? std::string() : "its entry " + shown(entry) + ": ") +
                  what,
              "image_broken",
              {{"entry", utf8::repair(std::string(entry.substr(0, 4096)))},
               {"remedy", "fetch or save it again"}});
}

Failure too_large(const std::string& what, const std::string& limit) {
  return fail(BH_RESOURCE_EXHAUSTED, "the image is refused: " + what, "image_too_large",
              {{"limit", limit}});
}

Result<std::string> clean_path(std::string_view name, int depth) {
  std::string out;
  int parts = 0;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    const std::string_view part = name.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") return unsafe(name, "leads upwards");
    if (part.find('\0') != part.npos) return unsafe(name, "has a NUL byte in its name");
    if (part.size() > NAME_MAX) {
      return too_large("its entry " + shown(name) + " has a name of " + std::to_string(part.size()) +
                           " bytes",
                       "name=" + std::to_string(NAME_MAX));
    }
    if (++parts > depth) {
      return too_large("its entry " + shown(name) + " lies more than " + std::to_string(depth) +
                           " folders deep",
                       "depth=" + std::to_string(depth));
    }
    if (!out.empty()) out += '/';
    out += part;
    if (out.size() >= PATH_MAX) {
      return too_large("its entry " + shown(name) + " has a path of more than " +
                           std::to_string(PATH_MAX - 1) + " bytes",
                       "path=" + std::to_string(PATH_MAX - 1));
    }
  }
  return out;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::string last_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace bh::unpack
