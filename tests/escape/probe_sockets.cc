// Sockets: families, and whom they reach.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "probe.h"

namespace probe {

void sockets() {
  struct Family {
    const char* name;
    int family, type;
  };
  for (const Family& f : {Family{"vsock", 40, SOCK_STREAM},
                          {"packet", AF_PACKET, SOCK_RAW},
                          {"alg", 38, SOCK_SEQPACKET},
                          {"key", 15, SOCK_RAW},
                          {"bluetooth", 31, SOCK_RAW},
                          {"tipc", 30, SOCK_RDM},
                          {"raw", AF_INET, SOCK_RAW}}) {
    attempt(f.name, [&] { return ::socket(f.family, f.type, f.family == AF_INET ? 1 : 0); });
    // Refused by us is EPERM; any other error means that the family's module was asked for.
    int pair[2];
    if (f.family != AF_INET) {
      attempt((std::string(f.name) + "_pair").c_str(),
              [&] { return ::socketpair(f.family, f.type, 0, pair); });
    }
  }
  attempt("sctp", [] { return ::socket(AF_INET, SOCK_STREAM, 132); });
  attempt("udplite", [] { return ::socket(AF_INET6, SOCK_DGRAM, 136); });
  attempt("netlink_audit", [] { return ::socket(AF_NETLINK, SOCK_RAW, 9); });
  attempt("local", [] { return ::socket(AF_UNIX, SOCK_STREAM, 0); });
  attempt("pair", [] {
    int pair[2];
    return ::socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  });
}

long reach(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  socklen_t size = sizeof address;
  if (path[0] == '@') {
    address.sun_path[0] = 0;
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + ::strlen(path));
  }
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  return ::connect(fd, reinterpret_cast<sockaddr*>(&address), size);
}

namespace {

struct Place {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Place place_of(const char* address, int port) {
  Place p;
  auto* four = reinterpret_cast<sockaddr_in*>(&p.storage);
  auto* six = reinterpret_cast<sockaddr_in6*>(&p.storage);
  if (::inet_pton(AF_INET, address, &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(static_cast<uint16_t>(port));
    p.size = sizeof *four;
  } else if (::inet_pton(AF_INET6, address, &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(static_cast<uint16_t>(port));
    p.size = sizeof *six;
  }
  return p;
}

}  // namespace

// The server answers one byte to whatever comes; "silent" where no answer came in a second.
void network(const char* address, int port) {
  const Place to = place_of(address, port);
  attempt("tcp", [&] {
    const int fd = ::socket(to.storage.ss_family, SOCK_STREAM, 0);
    return fd < 0 ? -1L : ::connect(fd, to.raw(), to.size);
  });
  attempt("udp", [&]() -> long {
    const int fd = ::socket(to.storage.ss_family, SOCK_DGRAM, 0);
    if (fd < 0 || ::sendto(fd, "x", 1, 0, to.raw(), to.size) != 1) return -1;
    pollfd p{fd, POLLIN, 0};
    char c = 0;
    errno = ETIMEDOUT;
    return ::poll(&p, 1, 1000) == 1 && ::recv(fd, &c, 1, 0) == 1 ? 0 : -1;
  });
  attempt("icmp", [&]() -> long {
    const int fd = ::socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
    unsigned char echo[8] = {8, 0, 0xF7, 0xFF, 0, 0, 0, 0};
    if (fd < 0 || ::sendto(fd, echo, sizeof echo, 0, to.raw(), to.size) < 0) return -1;
    return 0;
  });
  attempt("raw", [] { return ::socket(AF_INET, SOCK_RAW, IPPROTO_ICMP); });
}

// What programs need inside: their own servers on loopback, and local sockets in the workspace.
void loopback() {
  for (const char* address : {"127.0.0.1", "::1"}) {
    attempt(address, [&]() -> long {
      Place at = place_of(address, 0);
      const int server = ::socket(at.storage.ss_family, SOCK_STREAM, 0);
      const int client = ::socket(at.storage.ss_family, SOCK_STREAM, 0);
      if (server < 0 || client < 0 || ::bind(server, at.raw(), at.size) != 0) return -1;
      if (::listen(server, 1) != 0) return -1;
      if (::getsockname(server, reinterpret_cast<sockaddr*>(&at.storage), &at.size) != 0) return -1;
      if (::connect(client, at.raw(), at.size) != 0) return -1;
      return ::accept(server, nullptr, nullptr);
    });
  }
  attempt("by_path", []() -> long {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    ::strcpy(at.sun_path, "own.socket");
    const int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (::bind(server, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) return -1;
    if (::listen(server, 1) != 0) return -1;
    return reach("own.socket");
  });
  attempt("pair", []() -> long {
    int pair[2];
    char c = 0;
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0) return -1;
    return ::write(pair[0], "x", 1) == 1 && ::read(pair[1], &c, 1) == 1 ? 0 : -1;
  });
}

void serve(int port) {
  const Place at = place_of("127.0.0.1", port);
  const int server = ::socket(AF_INET, SOCK_STREAM, 0);
  if (server < 0 || ::bind(server, at.raw(), at.size) != 0 || ::listen(server, 8) != 0) {
    return say("serve", -1);
  }
  std::printf("serving\n");
  std::fflush(stdout);
  for (;;) ::close(::accept(server, nullptr, nullptr));
}

}  // namespace probe
