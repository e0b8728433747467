// Sockets: what leaves the sandbox, whom it reaches, and what must work inside.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <thread>

#include "row.h"

using namespace bh_test;

namespace {

// Answers one byte to what comes to its port, TCP and UDP, on every address of this machine.
class Echo {
 public:
  Echo() {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    tcp_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    udp_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    REQUIRE(::bind(tcp_, reinterpret_cast<sockaddr*>(&any), sizeof any) == 0);
    REQUIRE(::listen(tcp_, 8) == 0);
    socklen_t size = sizeof any;
    REQUIRE(::getsockname(tcp_, reinterpret_cast<sockaddr*>(&any), &size) == 0);
    port = ntohs(any.sin_port);
    REQUIRE(::bind(udp_, reinterpret_cast<sockaddr*>(&any), sizeof any) == 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~Echo() {
    end_ = true;
    thread_.join();
    ::close(tcp_);
    ::close(udp_);
  }
  int port = 0;

 private:
  void serve() const {
    while (!end_) {
      pollfd p[2] = {{tcp_, POLLIN, 0}, {udp_, POLLIN, 0}};
      if (::poll(p, 2, 100) <= 0) continue;
      if ((p[0].revents & POLLIN) != 0) ::close(::accept(tcp_, nullptr, nullptr));
      if ((p[1].revents & POLLIN) == 0) continue;
      sockaddr_in from{};
      socklen_t size = sizeof from;
      char c = 0;
      (void)::recvfrom(udp_, &c, 1, 0, reinterpret_cast<sockaddr*>(&from), &size);
      (void)::sendto(udp_, "y", 1, 0, reinterpret_cast<sockaddr*>(&from), size);
    }
  }
  int tcp_ = -1, udp_ = -1;
  std::atomic<bool> end_{false};
  std::thread thread_;
};

// This machine's addresses, loopback first.
std::vector<std::string> addresses() {
  std::vector<std::string> out = {"127.0.0.1"};
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return out;
  for (const ifaddrs* at = all; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET) continue;
    if ((at->ifa_flags & IFF_LOOPBACK) != 0 || (at->ifa_flags & IFF_UP) == 0) continue;
    char text[INET_ADDRSTRLEN] = {};
    const auto* four = reinterpret_cast<const sockaddr_in*>(at->ifa_addr);
    ::inet_ntop(AF_INET, &four->sin_addr, text, sizeof text);
    out.emplace_back(text);
  }
  ::freeifaddrs(all);
  return out;
}

// A listening socket of the host, by path or, with '@' in front, without one.
class Local {
 public:
  explicit Local(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, sizeof address.sun_path - 1);
    socklen_t size = sizeof address;
    if (name[0] == '@') {
      address.sun_path[0] = 0;
      size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    }
    fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(fd_, 64) == 0);
    if (name[0] != '@') ::chmod(name.c_str(), 0777);
  }
  ~Local() { ::close(fd_); }

 private:
  int fd_ = -1;
};

}  // namespace

BH_ROW("N1", "without a network nothing leaves") {
  Echo echo;
  for (const auto& address : addresses()) {
    CAPTURE(address);
    row.attack("refused", [&](Cell& c) {
      c.more_ = R"(,"network":{"mode":"off"})";
      c.spoken_of_by({"network.mode", "isolation.udp"});
      const auto tried = c.probe("network " + address + " " + std::to_string(echo.port));
      if (c.free()) {
        CHECK(tried.at("tcp") == "ok");
        CHECK(tried.at("udp") == "ok");
      }
      CAPTURE(tried.at("tcp"), tried.at("udp"), tried.at("icmp"), tried.at("raw"));
      if (!c.free()) CHECK(tried.at("raw") != "ok");
      // An echo that is sent on the sandbox's own loopback reaches nobody.
      return tried.at("tcp") == "ok" || tried.at("udp") == "ok" ||
             (address != "127.0.0.1" && tried.at("icmp") == "ok");
    });
  }
  Cell cell(row.backend(), R"(,"network":{"mode":"off"})");
  const Ran ran = cell.sh("bash -c 'echo x > /dev/tcp/127.0.0.1/" + std::to_string(echo.port) +
                          "' 2>/dev/null && echo left; timeout 5 getent hosts example.org && echo "
                          "left; exit 0");
  CHECK(ran.out.find("left") == std::string::npos);
  CHECK(ran.seconds < 8);
}

BH_ROW("N14", "the host's abstract sockets are out of reach, on the host's network too") {
  const std::string name = "@bulkhead-test-" + std::to_string(::getpid());
  Local server(name);
  for (const char* mode : {"off", "unrestricted"}) {
    CAPTURE(mode);
    row.attack("refused", [&](Cell& c) {
      c.more_ = std::string(R"(,"network":{"mode":")") + mode + "\"}";
      c.spoken_of_by({"isolation.abstract_sockets"});
      return c.probe("reach " + name).at("reach") == "ok";
    });
  }
}

BH_ROW("N15", "sockets of agents that the environment names, and /run, are out of reach") {
  OpenFolder folder;
  ::chmod(folder.path().c_str(), 0755);
  const std::string path = folder.path() + "/agent";
  Local server(path);
  const char* before = ::getenv("SSH_AUTH_SOCK");
  const std::string old = before != nullptr ? before : "";
  for (const char* variable : {"SSH_AUTH_SOCK", "DOCKER_HOST", "DBUS_SESSION_BUS_ADDRESS"}) {
    CAPTURE(variable);
    const std::string start = variable == std::string("DOCKER_HOST")     ? "unix://"
                              : variable == std::string("SSH_AUTH_SOCK") ? ""
                                                                         : "unix:path=";
    ::setenv(variable, (start + path).c_str(), 1);
    row.attack("hidden", [&](Cell& c) {
      c.spoken_of_by({"isolation.local_sockets", "isolation.hides"});
      return c.probe("reach " + path).at("reach") == "ok";
    });
    ::unsetenv(variable);
  }
  if (!old.empty()) ::setenv("SSH_AUTH_SOCK", old.c_str(), 1);
  Cell cell(row.backend());
  const bool seen = cell.sh("ls -A /run /var/run/; exit 0").out.size() > 18;
  row.judge(seen, "hidden", {"isolation.hides"}, cell.report);
}

BH_ROW("N15", "a socket that the host's list hides cannot be reached") {
  OpenFolder folder;
  ::chmod(folder.path().c_str(), 0755);
  const std::string path = folder.path() + "/docker.sock";
  Local server(path);
  row.attack("hidden", [&](Cell& c) {
    c.more_ = R"(,"hide":[)" + quote(folder.path()) + "]";
    c.spoken_of_by({"isolation.local_sockets", "isolation.hides"});
    return c.probe("reach " + path).at("reach") == "ok";
  });
  // One that nothing tells of is reached: this is what hiding prevents, and what is documented.
  Cell seen(row.backend());
  if (seen.probe("reach " + path).at("reach") == "ok") {
    row.note("a socket that no rule and no variable names can be reached, as README.md says");
  }
}

BH_ROW("N16", "families that lead out, and those whose modules load on demand") {
  Cell cell(row.backend());
  auto tried = cell.probe("sockets");
  const auto free = Cell("process").probe("sockets");
  size_t different = 0;
  for (const char* name :
       {"vsock", "packet", "alg", "key", "bluetooth", "tipc", "netlink_audit", "vsock_pair",
        "packet_pair", "alg_pair", "key_pair", "bluetooth_pair", "tipc_pair", "sctp", "udplite"}) {
    CAPTURE(name);
    // The kernel's audit may also look as if it were not there, or programs that manage users give up.
    const bool absent = name == std::string("netlink_audit") &&
                        tried[name] == std::to_string(EPROTONOSUPPORT);
    CHECK((absent || tried[name] == std::to_string(EPERM)));
    if (free.at(name) != std::to_string(EPERM)) ++different;
  }
  CHECK(different > 8);  // the control: without a sandbox the kernel itself is asked
  CHECK(tried["raw"] != "ok");
  CHECK(tried["local"] == "ok");
  CHECK(tried["pair"] == "ok");
  row.is("refused");
}

BH_ROW("N22", "loopback, pairs and sockets in the workspace work inside") {
  // What programs need: JVM, Gradle, Node. Nothing is attacked, so the control is that it is so
  // without a sandbox as well.
  for (const std::string& provider : {std::string("process"), row.backend()}) {
    CAPTURE(provider);
    Cell cell(provider);
    for (const auto& [name, result] : cell.probe("loopback")) {
      CAPTURE(name, result);
      if (result == "ok") continue;
      // A kernel without IPv6.
      const bool no_six = name == "::1" && (result == std::to_string(EAFNOSUPPORT) ||
                                            result == std::to_string(EADDRNOTAVAIL));
      if (no_six) continue;
      // Without a network there may be no loopback either: then the report says that.
      const std::string why = rule_reason(cell.report, "network.mode");
      CHECK(why.find("loopback") != std::string::npos);
      row.is("not enforced (told)");
      row.note("network.mode off: " + why);
    }
  }
  row.is("works");
}
