#include "identity.h"

#include <unistd.h>

#include <bulkhead/sdk/isolation/fd.hpp>
#include <sstream>

namespace bwrap {

namespace {

// Lines of `text` whose first field is not `name` and whose third is not `id`.
std::string others(const std::string& text, const std::string& name, const std::string& id) {
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

std::string name_of(uint32_t uid) {
  std::string text;
  (void)isolation::read_file("/etc/passwd", text);
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

}  // namespace

bool Identity::may(const struct stat& st, unsigned want) const {
  unsigned have = st.st_mode & 7u;
  if (st.st_uid == uid) {
    have = (st.st_mode >> 6) & 7u;
  } else if (st.st_gid == gid) {
    have = (st.st_mode >> 3) & 7u;
  }
  return (have & want) == want;
}

Identity identity_for(const isolation::Profile& profile, Ids ids, uint32_t shifted) {
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
    who.name = name_of(who.uid);
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

std::string passwd_for(const Identity& who, const std::string& home) {
  std::string text;
  if (!isolation::read_file("/etc/passwd", text)) return {};
  const std::string id = std::to_string(who.inside_uid);
  return who.name + ":x:" + id + ":" + std::to_string(who.inside_gid) + "::" + home + ":/bin/sh\n" +
         others(text, who.name, id);
}

std::string group_for(const Identity& who) {
  std::string text;
  if (!isolation::read_file("/etc/group", text)) return {};
  const std::string id = std::to_string(who.inside_gid);
  return who.name + ":x:" + id + ":\n" + others(text, who.name, id);
}

}  // namespace bwrap
