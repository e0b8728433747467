#include "loader/search.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "base/own_folder.h"

namespace bh {
namespace {

constexpr size_t kFoldersLimit = 1024;  // plugins of one place

using Seen = std::set<std::pair<dev_t, ino_t>>;

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
}

// The names of the folders inside, sorted so that the order is the same every time.
Checked<std::vector<std::string>> names_in(const Folder& folder) {
  // fdopendir() owns its descriptor, and a copy would share the read position.
  const int fd = ::openat(folder.fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* dir = fd < 0 ? nullptr : ::fdopendir(fd);
  if (dir == nullptr) {
    const int error = errno;
    if (fd >= 0) ::close(fd);
    return refuse(LoadStage::permission, folder.path + " cannot be read: " + std::strerror(error),
                  hint_for_errno(error, folder.path));
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(dir)) {
    if (entry->d_name[0] == '.') continue;
    if (entry->d_type == DT_REG) continue;
    names.emplace_back(entry->d_name);
    if (names.size() > kFoldersLimit) break;
  }
  ::closedir(dir);
  if (names.size() > kFoldersLimit) {
    return refuse(LoadStage::permission,
                  folder.path + " holds more than " + std::to_string(kFoldersLimit) + " folders",
                  "name a folder in its place that holds plugins alone");
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool holds_manifest(const Folder& folder) {
  struct stat st;
  return ::fstatat(folder.fd.get(), "plugin.json", &st, AT_SYMLINK_NOFOLLOW) == 0;
}

class Search {
 public:
  explicit Search(const SearchOptions& options) : options_(options) {}

  SearchResult run() {
    for (const std::string& path : options_.path) look("config", path, Trust::usual());
    environment();
    user();
    relative();
    system();
    return std::move(result_);
  }

 private:
  void note(const char* source, std::string path, const char* status, std::string message,
            std::string real = {}) {
    result_.places.push_back(
        {source, std::move(path), status, std::move(message), std::move(real)});
  }

  bool off(bool on, const char* source) {
    if (!on) {
      note(source, "", "off", std::string("switched off by plugins.") + source);
    }
    return !on;
  }

  void environment() {
    if (off(options_.environment, "environment")) return;
    if (::getauxval(AT_SECURE) != 0) {
      note("environment", "", "off",
           "BH_PLUGIN_PATH is ignored: the program runs with raised rights");
      return;
    }
    const char* list = ::secure_getenv("BH_PLUGIN_PATH");
    if (list == nullptr || *list == '\0') {
      note("environment", "", "absent", "BH_PLUGIN_PATH is not set");
      return;
    }
    std::string rest = list;
    while (!rest.empty()) {
      const size_t colon = std::min(rest.find(':'), rest.size());
      const std::string path = rest.substr(0, colon);
      rest.erase(0, colon + 1);
      if (!path.empty()) look("environment", path, Trust::usual());
    }
  }

  void user() {
    if (off(options_.user, "user")) return;
    if (::getauxval(AT_SECURE) != 0) {
      note("user", "", "off", "the user's folder is ignored: the program runs with raised rights");
      return;
    }
    // By the base directory specification a relative XDG_DATA_HOME is to be ignored.
    const char* data = ::secure_getenv("XDG_DATA_HOME");
    if (data != nullptr && *data == '/') {
      look("user", std::string(data) + "/bulkhead/plugins", Trust::usual());
      return;
    }
    const char* home = ::secure_getenv("HOME");
    if (home == nullptr || *home != '/') {
      note("user", "", "absent", "neither XDG_DATA_HOME nor HOME names a folder");
      return;
    }
    look("user", std::string(home) + "/.local/share/bulkhead/plugins", Trust::usual());
  }

  // Whoever owns the library's folder decides already what runs in this process, so the plugins
  // beside it may be his as well: a checkout of one user's, run through sudo, works.
  void relative() {
    if (off(options_.relative, "relative")) return;
    const std::string own = own_folder();
    struct stat st;
    if (own.empty() || ::stat(own.c_str(), &st) != 0) {
      note("relative", "", "absent", "the library's own folder cannot be told");
      return;
    }
    Trust trust = Trust::usual();
    trust.owners.push_back(st.st_uid);
    if ((st.st_mode & S_IWGRP) != 0) trust.group = st.st_gid;
    look("relative", parent_of(own) + "/plugins", trust);
    look("relative", own + "/bulkhead/plugins", trust);
  }

  void system() {
    if (off(options_.system, "system")) return;
    look("system", "/usr/local/lib/bulkhead/plugins", Trust::usual());
    look("system", "/usr/lib/bulkhead/plugins", Trust::usual());
  }

  void look(const char* source, const std::string& path, const Trust& trust) {
    auto opened = open_folder(path, trust);
    if (!opened) {
      note(source, path, "refused", opened.error().message + "; " + opened.error().hint);
      return;
    }
    if (!*opened) {
      note(source, path, "absent", "there is no such folder");
      return;
    }
    Folder& folder = **opened;
    struct stat st;
    if (::fstat(folder.fd.get(), &st) == 0 && !seen_.insert({st.st_dev, st.st_ino}).second) {
      note(source, path, "searched", "the same folder as one above");
      return;
    }
    if (holds_manifest(folder)) {
      note(source, path, "searched", "is one plugin's own folder", folder.path);
      const std::string real = folder.path;
      result_.folders.push_back({source, real, trust, std::move(folder)});
      return;
    }
    auto names = names_in(folder);
    if (!names) {
      note(source, path, "refused", names.error().message + "; " + names.error().hint);
      return;
    }
    size_t count = 0;
    for (const std::string& name : *names) count += add(source, folder, name, trust) ? 1 : 0;
    note(source, path, "searched",
         std::to_string(count) + (count == 1 ? " plugin folder" : " plugin folders"), folder.path);
  }

  bool add(const char* source, const Folder& parent, const std::string& name, const Trust& trust) {
    auto folder = open_subfolder(parent, name, trust);
    if (folder && !holds_manifest(*folder)) return false;
    result_.folders.push_back({source, parent.path + "/" + name, trust, std::move(folder)});
    return true;
  }

  const SearchOptions& options_;
  SearchResult result_;
  Seen seen_;
};

}  // namespace

SearchResult search_plugins(const SearchOptions& options) { return Search(options).run(); }

}  // namespace bh
