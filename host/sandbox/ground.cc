#include "sandbox/ground.h"

#include <sys/stat.h>

namespace bh {
namespace {

bool elsewhere(const json::object& place, dev_t home) {
  struct stat st {};
  const std::string source(json::get_string(place, "source"));
  return !source.empty() && ::stat(source.c_str(), &st) == 0 && st.st_dev != home;
}

}  // namespace

bool leaves_file_system(const json::object& profile, const std::string& home) {
  struct stat st {};
  if (::stat(home.c_str(), &st) != 0) return true;
  for (const char* key : {"workspace", "home", "tmp"}) {
    const json::object* place = json::get_object(profile, key);
    if (place != nullptr && elsewhere(*place, st.st_dev)) return true;
  }
  const json::array* mounts = json::get_array(profile, "mounts");
  if (mounts == nullptr) return false;
  for (const json::value& mount : *mounts) {
    if (mount.is_object() && elsewhere(mount.get_object(), st.st_dev)) return true;
  }
  return false;
}

}  // namespace bh
