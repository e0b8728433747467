// Control groups of the sandboxes of one state folder.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <string>

namespace bh_test {

// In whatever hierarchy, commands' among them; the folder's device and inode are in their names.
inline std::set<std::string> groups_of(const std::string& state) {
  namespace fs = std::filesystem;
  struct stat st {};
  std::set<std::string> found;
  if (::stat(state.c_str(), &st) != 0) return found;
  const std::string mark = "-" + std::to_string(st.st_dev) + "-" + std::to_string(st.st_ino);
  std::error_code gone;
  for (auto it = fs::recursive_directory_iterator(
           "/sys/fs/cgroup", fs::directory_options::skip_permission_denied, gone);
       !gone && it != fs::recursive_directory_iterator(); it.increment(gone)) {
    if (it->is_directory(gone) && it->path().string().find(mark) != std::string::npos) {
      found.insert(it->path());
    }
  }
  return found;
}
inline size_t count_groups(const std::string& state) { return groups_of(state).size(); }

}  // namespace bh_test
