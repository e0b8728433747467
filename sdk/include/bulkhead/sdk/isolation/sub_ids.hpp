// bulkhead/sdk/isolation/sub_ids.hpp - the ranges of ids that the machine's owner has given to an
// ordinary user (/etc/subuid, /etc/subgid), and the programs that map them. Looks only.
#ifndef BULKHEAD_SDK_ISOLATION_SUB_IDS_HPP
#define BULKHEAD_SDK_ISOLATION_SUB_IDS_HPP

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "fd.hpp"

namespace bulkhead::sdk::isolation {

struct IdSpan {
  uint32_t first = 0, count = 0;
};

// A line of an id map.
struct IdMapping {
  uint32_t inside = 0, outside = 0, count = 0;
};

// What a sandbox needs beside the user's own id: systems give 65534 to nobody.
constexpr uint32_t kSubIds = 65536;

struct SubIds {
  std::vector<IdSpan> users, groups;
  std::string newuidmap, newgidmap;  // absolute paths
  std::string why;                   // why they cannot be used, with what to do; empty: they can
  bool usable() const { return why.empty() && !users.empty(); }
};

namespace detail {

inline bool whole_number(const std::string& text, uint32_t& out) {
  if (text.empty() || text.size() > 10 || text.find_first_not_of("0123456789") != std::string::npos) {
    return false;
  }
  const unsigned long long value = std::strtoull(text.c_str(), nullptr, 10);
  out = static_cast<uint32_t>(value);
  return value < UINT32_MAX;
}

inline std::string login_name(uint32_t uid) {
  std::string text;
  (void)read_file("/etc/passwd", text);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name, skip, id;
    std::getline(fields, name, ':');
    std::getline(fields, skip, ':');
    std::getline(fields, id, ':');
    if (id == std::to_string(uid)) return name;
  }
  return {};
}

// Whoever can change such a program maps what he likes, so it is root's alone, and has the right to
// map: by its mode, or by a capability of the file's.
inline bool is_mapper(const std::string& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != 0) return false;
  if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0 || ::access(path.c_str(), X_OK) != 0) return false;
  return (st.st_mode & S_ISUID) != 0 ||
         ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

inline std::string find_mapper(const char* name) {
  for (const char* folder : {"/usr/bin/", "/bin/", "/usr/local/bin/"}) {
    if (is_mapper(folder + std::string(name))) return folder + std::string(name);
  }
  return {};
}

}  // namespace detail

// The ranges in `text` (lines NAME:FIRST:COUNT) of whoever has that name or number. One that holds
// the kernel's id 0, or `own`, which is mapped by itself, is nobody's to give.
inline std::vector<IdSpan> sub_ids_in(const std::string& text, const std::string& name, uint32_t id,
                                      uint32_t own) {
  std::vector<IdSpan> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string whose, first, count;
    std::getline(fields, whose, ':');
    std::getline(fields, first, ':');
    std::getline(fields, count);
    IdSpan span;
    if (whose.empty() || (whose != name && whose != std::to_string(id))) continue;
    if (!detail::whole_number(first, span.first) || !detail::whole_number(count, span.count)) continue;
    if (span.first == 0 || span.count == 0 || span.count > UINT32_MAX - span.first) continue;
    if (own >= span.first && own - span.first < span.count) continue;
    out.push_back(span);
  }
  return out;
}

inline uint64_t how_many(const std::vector<IdSpan>& spans) {
  uint64_t sum = 0;
  for (const IdSpan& one : spans) sum += one.count;
  return sum;
}

// A map in which the user's own id stands at `inside`, and ids of the ranges at all other numbers
// below kSubIds.
inline std::vector<IdMapping> map_around(uint32_t inside, uint32_t own,
                                         const std::vector<IdSpan>& spans) {
  std::vector<IdMapping> out{{inside, own, 1}};
  uint32_t next = 0;
  for (IdSpan left : spans) {
    while (left.count > 0 && next < kSubIds) {
      if (next == inside) {
        ++next;
        continue;
      }
      const uint32_t end = next < inside ? std::min(inside, kSubIds) : kSubIds;
      const uint32_t count = std::min(left.count, end - next);
      out.push_back({next, left.first, count});
      next += count;
      left.first += count;
      left.count -= count;
    }
  }
  return out;
}

// Of the user that this thread runs as. `why` is set where there is anything amiss.
inline SubIds find_sub_ids() {
  SubIds out;
  const uint32_t uid = ::geteuid(), gid = ::getegid();
  const std::string name = detail::login_name(uid);
  std::string users, groups;
  (void)read_file("/etc/subuid", users);
  (void)read_file("/etc/subgid", groups);
  out.users = sub_ids_in(users, name, uid, uid);
  out.groups = sub_ids_in(groups, name, uid, gid);
  if (how_many(out.users) < kSubIds || how_many(out.groups) < kSubIds) {
    const std::string who = name.empty() ? std::to_string(uid) : name;
    out.why = "/etc/subuid and /etc/subgid give " + who + " fewer than " + std::to_string(kSubIds) +
              " ids (as root: usermod --add-subuids 100000-165535 --add-subgids 100000-165535 " + who +
              ", with numbers that nobody else has)";
    return out;
  }
  out.newuidmap = detail::find_mapper("newuidmap");
  out.newgidmap = detail::find_mapper("newgidmap");
  if (out.newuidmap.empty() || out.newgidmap.empty()) {
    out.why = "the programs newuidmap and newgidmap, which map the ids that /etc/subuid gives, are not "
              "installed (package uidmap)";
  } else if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) {
    out.why = "newuidmap has no effect here, since whatever started this process lets it gain no rights "
              "(no_new_privs; in a systemd unit NoNewPrivileges=no)";
  }
  return out;
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_SUB_IDS_HPP
