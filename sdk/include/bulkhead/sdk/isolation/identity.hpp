// bulkhead/sdk/isolation/identity.hpp - who a sandbox's processes are: for the kernel, and for
// themselves.
#ifndef BULKHEAD_SDK_ISOLATION_IDENTITY_HPP
#define BULKHEAD_SDK_ISOLATION_IDENTITY_HPP

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "fd.hpp"
#include "profile.hpp"

namespace bulkhead::sdk::isolation {

enum class Ids {
  kOwn,      // not started by root: the user's own id, as bubblewrap always did
  kShifted,  // started by root: an id of the persona's that owns nothing on the host
  kRoot,     // started by root, but the files cannot be mapped: id 0 without capabilities
};

struct Identity {
  Ids ids = Ids::kOwn;
  uint32_t uid = 0, gid = 0;                // for the kernel
  uint32_t inside_uid = 0, inside_gid = 0;  // as seen inside
  std::string name;

  // May it read (4), write (2), enter (1) what has these facts? Capabilities do not count.
  bool may(const struct stat& st, unsigned want) const;
};

namespace detail {

// Lines of `text` whose first field is not `name` and whose third is not `id`.
inline std::string others(const std::string& text, const std::string& name, const std::string& id) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string first, skip, third;
    std::getline(fields, first, ':');
    std::getline(fields, skip, ':');
    std::getline(fields, third, ':');
    if (first != name && third != id) out += line + "\n";
  }
  return out;
}

inline std::string name_of(uint32_t uid) {
  std::string text;
  (void)read_file("/etc/passwd", text);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string first, skip, third;
    std::getline(fields, first, ':');
    std::getline(fields, skip, ':');
    std::getline(fields, third, ':');
    if (third == std::to_string(uid)) return first;
  }
  return "agent";
}

}  // namespace detail

inline bool Identity::may(const struct stat& st, unsigned want) const {
  unsigned have = st.st_mode & 7u;
  if (st.st_uid == uid) {
    have = (st.st_mode >> 6) & 7u;
  } else if (st.st_gid == gid) {
    have = (st.st_mode >> 3) & 7u;
  }
  return (have & want) == want;
}

// `shifted`: the kernel id that kShifted takes; see personas.hpp.
inline Identity identity_for(const Profile& profile, Ids ids, uint32_t shifted) {
  Identity who;
  who.ids = ids;
  if (ids == Ids::kShifted) {
    who.uid = who.gid = shifted;
    who.inside_uid = who.inside_gid = 1000;
    who.name = "agent";
  } else if (ids == Ids::kRoot) {
    who.inside_uid = who.inside_gid = 1000;
    who.name = "agent";
  } else {
    who.uid = who.inside_uid = ::geteuid();
    who.gid = who.inside_gid = ::getegid();
    who.name = detail::name_of(who.uid);
  }
  if (profile.uid) {
    who.inside_uid = *profile.uid;
    who.inside_gid = profile.gid.value_or(*profile.uid);
  } else if (profile.gid) {
    who.inside_gid = *profile.gid;
  }
  if (!profile.user.empty()) {
    who.name = profile.user;
  } else if (profile.uid) {
    who.name = *profile.uid == 0 ? "root" : "agent";
  }
  return who;
}

// A name that can stand in /etc/passwd; the empty one is the backend's choice.
inline Status check_user_name(const std::string& name) {
  for (const char c : name) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    if (!fine) {
      return failure(BH_INVALID_ARGUMENT, "user.name may hold a-z, 0-9, - and _ only", "name",
                     "user.name", "choose another name");
    }
  }
  return {};
}

// The host's /etc/passwd or /etc/group with a line for the sandbox's user in front; empty where
// there is no such file.
inline std::string passwd_for(const Identity& who, const std::string& home) {
  std::string text;
  if (!read_file("/etc/passwd", text)) return {};
  const std::string id = std::to_string(who.inside_uid);
  return who.name + ":x:" + id + ":" + std::to_string(who.inside_gid) + "::" + home + ":/bin/sh\n" +
         detail::others(text, who.name, id);
}

inline std::string group_for(const Identity& who) {
  std::string text;
  if (!read_file("/etc/group", text)) return {};
  const std::string id = std::to_string(who.inside_gid);
  return who.name + ":x:" + id + ":\n" + detail::others(text, who.name, id);
}

namespace detail {

// Whether the profile itself says what is seen at `path`: lines of ours must not cover that.
inline bool settled(const Profile& profile, const std::string& path) {
  const Profile::Rule* nearest = nullptr;
  for (const auto& rule : profile.files) {
    if (!is_within(path, rule.path)) continue;
    if (nearest == nullptr || rule.path.size() > nearest->path.size()) nearest = &rule;
  }
  if (nearest != nullptr && nearest->access == Access::kHide) return true;
  return std::any_of(profile.mounts.begin(), profile.mounts.end(),
                     [&](const auto& mount) { return is_within(path, mount.path); });
}

}  // namespace detail

// Files that are to stand in place of the host's, so that the sandbox's user has a name: path and
// text.
inline std::vector<std::pair<std::string, std::string>> name_files(const Profile& profile,
                                                                   const Identity& who,
                                                                   const std::string& home) {
  std::vector<std::pair<std::string, std::string>> out;
  if (home.find_first_of(":\n") != std::string::npos) return out;
  for (const std::string path : {"/etc/passwd", "/etc/group"}) {
    struct stat st {};
    if (::lstat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) continue;
    if (detail::settled(profile, path)) continue;
    std::string text = path == "/etc/passwd" ? passwd_for(who, home) : group_for(who);
    if (!text.empty()) out.emplace_back(path, std::move(text));
  }
  return out;
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_IDENTITY_HPP
