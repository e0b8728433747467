#include "dial.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <csignal>

#include "../wire.h"

namespace ns {

using isolation::Fd;

namespace {

// Loopback answers at once; what does not is not listening in earnest.
constexpr int kPatienceMs = 2000;

Fd connect_to(const sockaddr* address, socklen_t size) {
  Fd fd(::socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  if (::connect(fd.get(), address, size) != 0) {
    if (errno != EINPROGRESS) return {};
    pollfd set{fd.get(), POLLOUT, 0};
    int error = ETIMEDOUT;
    socklen_t length = sizeof error;
    if (::poll(&set, 1, kPatienceMs) == 1) {
      (void)::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    }
    if (error != 0) return errno = error, Fd();
  }
  (void)::fcntl(fd.get(), F_SETFL, 0);
  return fd;
}

}  // namespace

int run_dialer(int user, int net, uint32_t port, int told) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Answer answer;
  Fd fd;
  if (::setns(user, CLONE_NEWUSER) == 0 && ::setns(net, CLONE_NEWNET) == 0) {
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = htons(static_cast<uint16_t>(port));
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fd = connect_to(reinterpret_cast<const sockaddr*>(&four), sizeof four);
    if (!fd) {
      sockaddr_in6 six{};
      six.sin6_family = AF_INET6;
      six.sin6_port = htons(static_cast<uint16_t>(port));
      six.sin6_addr = in6addr_loopback;
      const int error = errno;
      fd = connect_to(reinterpret_cast<const sockaddr*>(&six), sizeof six);
      if (!fd) errno = error;
    }
  }
  if (!fd) {
    answer.error = errno;
    ::snprintf(answer.text, sizeof answer.text, "port %u: %s", port, ::strerror(errno));
    return send_message(told, answer) ? 0 : 1;
  }
  return send_message(told, answer, {fd.get()}) ? 0 : 1;
}

}  // namespace ns
