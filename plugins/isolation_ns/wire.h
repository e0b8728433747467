// What the plugin and its broker say to each other, in the length-prefixed form of launch_job.hpp.
// The broker itself reads requests only; blueprints and entries are read by the processes that act
// on them, and nothing here was written by a sandbox.
#pragma once

#include <sys/socket.h>

#include <bulkhead/sdk/isolation/launch_job.hpp>
#include <bulkhead/sdk/isolation/launch_note.hpp>
#include <bulkhead/sdk/isolation/sub_ids.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace ns {

namespace isolation = bulkhead::sdk::isolation;

// Plugin to broker. Descriptors travel beside it, in the order of the comments.
struct Request {
  enum Kind : uint32_t {
    kMake = 1,  // blueprint, entry, filter, answer: builds the sandbox, told on `answer`
    kEnter,     // control, job, trouble, peer: a first process inside, told on `job`
    kDrop,      // answer, or nothing: ends all that runs in it and forgets it
    kDial,      // answer: a connection to a port inside, told on `answer` with the socket beside it
  };
  uint32_t kind = 0;
  uint32_t own_network = 1;  // kMake: 0: the host's
  uint32_t shared_processes = 0;  // kMake: 1: of all commands
  uint32_t port = 0;              // kDial
  uint64_t sandbox = 0;  // the plugin's number for it, never used twice
};

// Broker to plugin: on `answer`; and as the first message on `job`, with a pidfd beside it.
struct Answer {
  int32_t error = 0;  // an errno; 0: done
  int32_t pid = 0;    // of what kEnter started
  uint32_t unmapped = 0;  // 1: a file system cannot be mounted with other ids
  uint32_t memory_root = 0;  // 1: what is written to an image's root is kept in memory
  enum Cause : uint32_t { kOther, kMapper, kNoOverlay };
  uint32_t cause = kOther;   // kMapper: the programs that map ids refused; kNoOverlay: the kernel has none
  char text[500] = {};    // what could not be done, and why
};

using IdRange = isolation::IdMapping;

// What stands at one place of the sandbox's root; kinds as isolation::Node's.
struct Place {
  enum Kind : uint32_t { kHost, kSource, kEmpty, kNothing, kLink, kProc, kDevices, kShared, kText,
                        kImage, kReadOnly, kPin };
  uint32_t kind = kHost;
  uint32_t source = 0;  // kSource
  std::string target;
  std::string text;  // kLink: where it leads; kText: the file's content
};

// All that building a sandbox's namespaces takes.
struct Blueprint {
  uint32_t privileged = 0;  // 1: the broker is root and makes the mounts' trees outside
  std::vector<IdRange> ids, groups;
  // newuidmap and newgidmap, where an ordinary user's sandbox has ids of /etc/subuid; else empty.
  std::string map_users, map_groups;
  std::string clear;  // a folder to be removed with those ids, and nothing to be built; else empty
  uint32_t kernel_uid = isolation::kNobody, kernel_gid = isolation::kNobody;  // of the user inside
  uint64_t shm_bytes = 0;
  std::vector<isolation::Source> sources;
  uint32_t image = 0;  // 1: the first source is an image's root, the lower layer of the sandbox's
  std::string upper;   // where its upper layer is kept (up, work); empty: in memory
  std::vector<Place> places;       // parents first
  std::vector<std::string> seal;   // made read-only at the end
  std::vector<std::string> kernel; // "name value": below /proc/sys/user
};

// All that entering one takes.
struct Entry {
  uint32_t uid = 0, gid = 0;  // inside
  uint64_t capabilities = 0;  // a bit each; none: 0
  uint32_t own_network = 1;   // 0: the host's
  uint32_t drop_groups = 0;   // 1: supplementary groups can be, and are, dropped
  // Below writable folders, looked for each time: what was not there when the sandbox was built.
  std::vector<Place> late;    // kHost: made read-only, kNothing: hidden
  std::vector<std::string> writable;  // for Landlock
};

namespace detail {

inline void put(isolation::detail::Writer& w, const std::vector<Place>& places) {
  w.number(places.size());
  for (const Place& p : places) {
    w.number(p.kind);
    w.number(p.source);
    w.text(p.target);
    w.text(p.text);
  }
}
inline std::vector<Place> places(isolation::detail::Reader& r) {
  std::vector<Place> list(r.count());
  for (Place& p : list) {
    p.kind = r.small();
    p.source = r.small();
    p.target = r.text();
    p.text = r.text();
  }
  return list;
}

}  // namespace detail

inline std::string encode(const Blueprint& b) {
  isolation::detail::Writer w;
  w.number(b.privileged);
  for (const auto* ranges : {&b.ids, &b.groups}) {
    w.number(ranges->size());
    for (const IdRange& one : *ranges) {
      for (const uint32_t n : {one.inside, one.outside, one.count}) w.number(n);
    }
  }
  for (const auto* text : {&b.map_users, &b.map_groups, &b.clear}) w.text(*text);
  w.number(b.kernel_uid);
  w.number(b.kernel_gid);
  w.number(b.shm_bytes);
  isolation::detail::put(w, b.sources);
  w.number(b.image);
  w.text(b.upper);
  detail::put(w, b.places);
  w.texts(b.seal);
  w.texts(b.kernel);
  return w.take();
}

inline bool decode(std::string_view bytes, Blueprint& b) {
  isolation::detail::Reader r(bytes);
  b.privileged = r.small();
  for (auto* ranges : {&b.ids, &b.groups}) {
    ranges->resize(r.count());
    for (IdRange& one : *ranges) {
      for (uint32_t* n : {&one.inside, &one.outside, &one.count}) *n = r.small();
    }
  }
  for (auto* text : {&b.map_users, &b.map_groups, &b.clear}) *text = r.text();
  b.kernel_uid = r.small();
  b.kernel_gid = r.small();
  b.shm_bytes = r.number();
  b.sources = isolation::detail::sources(r);
  b.image = r.small();
  b.upper = r.text();
  b.places = detail::places(r);
  b.seal = r.texts();
  b.kernel = r.texts();
  return r.ok();
}

inline std::string encode(const Entry& e) {
  isolation::detail::Writer w;
  w.number(e.uid);
  w.number(e.gid);
  w.number(e.capabilities);
  w.number(e.own_network);
  w.number(e.drop_groups);
  detail::put(w, e.late);
  w.texts(e.writable);
  return w.take();
}

inline bool decode(std::string_view bytes, Entry& e) {
  isolation::detail::Reader r(bytes);
  e.uid = r.small();
  e.gid = r.small();
  e.capabilities = r.number();
  e.own_network = r.small();
  e.drop_groups = r.small();
  e.late = detail::places(r);
  e.writable = r.texts();
  return r.ok();
}

// One message of a fixed layout with descriptors beside it.
template <class T>
bool send_message(int socket, const T& message, const std::vector<int>& fds = {}) {
  iovec part{const_cast<T*>(&message), sizeof message};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int) * isolation::kMostFds)] = {};
  msghdr m{};
  m.msg_iov = &part;
  m.msg_iovlen = 1;
  if (fds.size() > isolation::kMostFds) return errno = E2BIG, false;
  if (!fds.empty()) {
    m.msg_control = space;
    m.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* head = CMSG_FIRSTHDR(&m);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(head), fds.data(), sizeof(int) * fds.size());
  }
  for (;;) {
    const ssize_t n = ::sendmsg(socket, &m, MSG_NOSIGNAL);
    if (n >= 0 || errno != EINTR) return n == static_cast<ssize_t>(sizeof message);
  }
}

// 1: a message; 0: the other side is gone; -1: errno tells, EMFILE where its descriptors found no room.
template <class T>
int receive_message(int socket, T& message, std::vector<isolation::Fd>& fds, int flags = 0) {
  iovec part{&message, sizeof message};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int) * isolation::kMostFds)] = {};
  msghdr m{};
  m.msg_iov = &part;
  m.msg_iovlen = 1;
  m.msg_control = space;
  m.msg_controllen = sizeof space;
  ssize_t n;
  do {
    n = ::recvmsg(socket, &m, flags | MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  fds.clear();
  for (cmsghdr* head = CMSG_FIRSTHDR(&m); n >= 0 && head != nullptr; head = CMSG_NXTHDR(&m, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
      fds.emplace_back(fd);
    }
  }
  if (n <= 0) return static_cast<int>(n);
  // The kernel drops what there is no room for in the receiver's table.
  const bool cut = (m.msg_flags & MSG_CTRUNC) != 0;
  if (n != static_cast<ssize_t>(sizeof message) || cut) {
    fds.clear();
    return errno = cut ? EMFILE : EPROTO, -1;
  }
  return 1;
}

}  // namespace ns
