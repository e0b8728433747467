// bulkhead/sdk/isolation/aliases.hpp - other paths that lead to the same files: a folder that must
// stay hidden may be mounted a second time elsewhere.
#ifndef BULKHEAD_SDK_ISOLATION_ALIASES_HPP
#define BULKHEAD_SDK_ISOLATION_ALIASES_HPP

#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

#include "fd.hpp"
#include "paths.hpp"

namespace bulkhead::sdk::isolation {

class MountTable {
 public:
  explicit MountTable(const std::string& mountinfo) {
    std::istringstream lines(mountinfo);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream in(line);
      std::string id, parent;
      Mount m;
      if (in >> id >> parent >> m.device >> m.root >> m.point) {
        for (std::string word; in >> word && word != "-";) {
        }
        in >> m.kind;
        m.root = plain(m.root);
        m.point = plain(m.point);
        mounts_.push_back(std::move(m));
      }
    }
  }
  static MountTable here() {
    std::string text;
    (void)read_file("/proc/self/mountinfo", text);
    return MountTable(text);
  }

  // Where file systems of these kinds are mounted.
  std::vector<std::string> points_of(std::initializer_list<const char*> kinds) const {
    std::vector<std::string> out;
    for (const Mount& m : mounts_) {
      for (const char* kind : kinds) {
        if (m.kind == kind) out.push_back(m.point);
      }
    }
    return out;
  }

  // Paths other than `path` (canonical) that show the same place.
  std::vector<std::string> aliases(const std::string& path) const {
    const Mount* own = nullptr;
    for (const Mount& m : mounts_) {
      // Of mounts on one point the last covers the others.
      if (is_within(path, m.point) && (own == nullptr || m.point.size() >= own->point.size())) {
        own = &m;
      }
    }
    std::vector<std::string> out;
    if (own == nullptr) return out;
    const std::string inside = join(own->root, rest_of(path, own->point));
    struct stat here {};
    if (::stat(path.c_str(), &here) != 0) return out;
    for (const Mount& m : mounts_) {
      if (m.device != own->device || !is_within(inside, m.root)) continue;
      std::string other = join(m.point, rest_of(inside, m.root));
      struct stat there {};
      if (other != path && ::lstat(other.c_str(), &there) == 0 && there.st_ino == here.st_ino &&
          there.st_dev == here.st_dev) {
        out.push_back(std::move(other));
      }
    }
    return out;
  }

 private:
  struct Mount {
    std::string device, root, point, kind;
  };
  // \040 and the like.
  static std::string plain(const std::string& text) {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\\' && i + 3 < text.size()) {
        out += static_cast<char>(std::strtol(text.substr(i + 1, 3).c_str(), nullptr, 8));
        i += 3;
      } else {
        out += text[i];
      }
    }
    return out;
  }
  std::vector<Mount> mounts_;
};

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_ALIASES_HPP
