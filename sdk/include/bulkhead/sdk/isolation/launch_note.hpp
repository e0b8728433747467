// bulkhead/sdk/isolation/launch_note.hpp - the messages between a host and its helper program, over
// SOCK_SEQPACKET sockets: small fixed records, and descriptors beside the first one.
#ifndef BULKHEAD_SDK_ISOLATION_LAUNCH_NOTE_HPP
#define BULKHEAD_SDK_ISOLATION_LAUNCH_NOTE_HPP

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cstring>
#include <vector>

#include "fd.hpp"

namespace bulkhead::sdk::isolation {

struct Note {
  enum Kind : uint32_t {
    kNone,
    // init or launcher -> host
    kStarted,  // the command's program runs
    kNotRun,   // a: stage (NotRun), b: errno
    kExited,   // a: wait status, b: flags below, c: CPU time in nanoseconds, of all if nothing is left
    kChecked,  // a: index of a source, b: 0 or the errno that staging it gave
    kUsage,    // c: CPU time in nanoseconds
    kTerminal, // with a descriptor: the command's terminal, our end of it
    // host -> init
    kSignal,  // a: number, for all processes of the command
    kFinish,  // enough: end whatever is left
  };
  enum ExitFlag : int32_t { kLeftovers = 1, kTimeUp = 2 };
  enum NotRun : int32_t {
    kFolder = 1,
    kProgram = 2,
    kLimits = 3,
    kFork = 4,
    kConfine = 5,
    kTerminals = 6
  };

  uint32_t kind = kNone;
  int32_t a = 0, b = 0, reserved = 0;
  int64_t c = 0;
};

inline bool send_note(int socket, const Note& note) {
  for (;;) {
    const ssize_t n = ::send(socket, &note, sizeof note, MSG_NOSIGNAL);
    if (n >= 0 || errno != EINTR) return n == static_cast<ssize_t>(sizeof note);
  }
}

// 1: a note; 0: the other side is gone; -1: nothing there (or an error). `fd`: takes a descriptor that
// came with it; without it none is taken.
inline int receive_note(int socket, Note& note, int flags = MSG_DONTWAIT, Fd* fd = nullptr) {
  for (;;) {
    iovec part{&note, sizeof note};
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (fd != nullptr) {
      message.msg_control = space;
      message.msg_controllen = sizeof space;
    }
    const ssize_t n = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
    if (n >= 0 && fd != nullptr) {
      const cmsghdr* head = CMSG_FIRSTHDR(&message);
      int taken = -1;
      if (head != nullptr && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
        std::memcpy(&taken, CMSG_DATA(head), sizeof taken);
      }
      fd->reset(taken);
    }
    if (n == static_cast<ssize_t>(sizeof note)) return 1;
    if (n == 0) return 0;
    // The other side ended with something of ours unread. That is told once, ahead of its own last
    // words, which say how the command ended.
    if (n < 0 && (errno == EINTR || errno == ECONNRESET)) continue;
    return -1;
  }
}

// With a descriptor beside it.
inline bool send_note_with(int socket, const Note& note, int fd) {
  iovec part{const_cast<Note*>(&note), sizeof note};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
  for (;;) {
    const ssize_t n = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (n >= 0 || errno != EINTR) return n == static_cast<ssize_t>(sizeof note);
  }
}

// What the calling process's children used that have ended and were waited for, and theirs; nanoseconds.
inline int64_t cpu_of_children() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  auto ns = [](const timeval& t) { return int64_t{t.tv_sec} * 1000000000 + t.tv_usec * 1000; };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

constexpr size_t kMostFds = 64;

// One byte and the descriptors.
inline bool send_fds(int socket, const std::vector<int>& fds) {
  char byte = 'j';
  iovec part{&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int) * kMostFds)] = {};
  if (fds.empty() || fds.size() > kMostFds) return errno = E2BIG, false;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
  std::memcpy(CMSG_DATA(head), fds.data(), sizeof(int) * fds.size());
  for (;;) {
    const ssize_t n = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (n >= 0 || errno != EINTR) return n == 1;
  }
}

inline std::vector<Fd> receive_fds(int socket) {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int) * kMostFds)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  ssize_t n;
  do {
    n = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  std::vector<Fd> fds;
  if (n != 1) return fds;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
       head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
      fds.emplace_back(fd);
    }
  }
  if ((message.msg_flags & MSG_CTRUNC) != 0) fds.clear();
  return fds;
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_LAUNCH_NOTE_HPP
