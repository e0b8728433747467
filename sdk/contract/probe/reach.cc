#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "verbs.h"

namespace {

int tell(bool good) {
  std::printf("%s\n", good ? "ok" : ::strerror(errno));
  return good ? 0 : 1;
}

// Whether a TCP connection comes to stand within two seconds.
int connect_to(const std::string& address, int port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(port));
  if (::inet_pton(AF_INET, address.c_str(), &to.sin_addr) != 1) return 2;
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return tell(false);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) return tell(true);
  if (errno != EINPROGRESS) return tell(false);
  pollfd wait{fd, POLLOUT, 0};
  if (::poll(&wait, 1, 2000) != 1) {
    errno = ETIMEDOUT;
    return tell(false);
  }
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  errno = error;
  return tell(error == 0);
}

// A listener on loopback, here, and a connection to it.
int loopback() {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || ::bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 ||
      ::listen(fd, 1) != 0 || ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
    return tell(false);
  }
  return connect_to("127.0.0.1", ntohs(at.sin_port));
}

// Answers one connection on that port with "pong".
int serve(int port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(static_cast<uint16_t>(port));
  const int one = 1;
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (fd < 0 || ::bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 ||
      ::listen(fd, 8) != 0) {
    return tell(false);
  }
  std::printf("serves\n");
  std::fflush(stdout);
  for (;;) {
    const int peer = ::accept(fd, nullptr, nullptr);
    if (peer < 0) return tell(false);
    (void)!::write(peer, "pong", 4);
    ::close(peer);
  }
}

int abstract_socket(const std::string& name) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof to.sun_path) return 2;
  std::memcpy(to.sun_path + 1, name.data(), name.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return tell(fd >= 0 && ::connect(fd, reinterpret_cast<sockaddr*>(&to), size) == 0);
}

// Whether a process is to be seen whose arguments hold `a` and `b` joined.
int find(const std::string& a, const std::string& b) {
  const std::string token = a + b;
  DIR* d = ::opendir("/proc");
  while (const dirent* entry = d != nullptr ? ::readdir(d) : nullptr) {
    const std::string path = std::string("/proc/") + entry->d_name + "/cmdline";
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    char text[4096];
    const ssize_t n = fd >= 0 ? ::read(fd, text, sizeof text) : -1;
    ::close(fd);
    if (n > 0 && std::string(text, static_cast<size_t>(n)).find(token) != std::string::npos) {
      std::printf("found %s\n", entry->d_name);
      return 0;
    }
  }
  std::printf("not found\n");
  return 1;
}

int shared_memory(int key) {
  const int id = ::shmget(key, 0, 0);
  void* at = id >= 0 ? ::shmat(id, nullptr, SHM_RDONLY) : reinterpret_cast<void*>(-1);
  return tell(at != reinterpret_cast<void*>(-1));
}

// What only a capability allows, on things of our own.
int privileged(const std::string& what, const std::string& folder) {
  if (what == "mount") {
    const bool made = ::mount("none", folder.c_str(), "tmpfs", 0, nullptr) == 0;
    const int error = errno;
    if (made) ::umount2(folder.c_str(), MNT_DETACH);
    errno = error;
    return tell(made);
  }
  if (what == "mknod") {
    const std::string path = folder + "/contract-device";
    const bool made = ::mknod(path.c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0;
    const int error = errno;
    if (made) ::unlink(path.c_str());
    errno = error;
    return tell(made);
  }
  if (what == "raw") return tell(::socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0);
  return 2;
}

}  // namespace

int reach(const std::string& verb, const std::string& a, const std::string& b) {
  if (verb == "connect") return connect_to(a, std::atoi(b.c_str()));
  if (verb == "loopback") return loopback();
  if (verb == "serve") return serve(std::atoi(a.c_str()));
  if (verb == "abstract") return abstract_socket(a);
  if (verb == "find") return find(a, b);
  if (verb == "shared_memory") return shared_memory(std::atoi(a.c_str()));
  if (verb == "privileged") return privileged(a, b);
  if (verb == "user_namespace") return tell(::unshare(CLONE_NEWUSER) == 0);
  if (verb == "kill") return tell(::kill(std::atoi(a.c_str()), 0) == 0);
  return -1;
}
