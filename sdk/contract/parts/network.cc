// The network as the profile has it, tried against a listener on the host.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "../core/box.h"
#include "../core/rules.h"
#include "../core/suite.h"
#include "../core/traces.h"

namespace bulkhead::sdk::contract {

namespace {

// Something on the host that could be reached: every address, one port.
class Listener {
 public:
  Listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_ANY);
    socklen_t size = sizeof at;
    if (::bind(fd_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0 && ::listen(fd_, 64) == 0 &&
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size) == 0) {
      port_ = ntohs(at.sin_port);
    }
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { ::close(fd_); }
  std::string port() const { return std::to_string(port_); }

 private:
  int fd_, port_ = 0;
};

// Loopback, and what else the host is called.
std::vector<std::string> host_addresses() {
  std::vector<std::string> out = {"127.0.0.1"};
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return out;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    char text[INET_ADDRSTRLEN];
    const auto* in = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    if (::inet_ntop(AF_INET, &in->sin_addr, text, sizeof text) != nullptr && out[0] != text) {
      out.emplace_back(text);
    }
  }
  ::freeifaddrs(all);
  return out;
}

json::object with_mode(const char* mode) {
  json::object profile;
  profile["network"] = json::object({{"mode", mode}});
  return profile;
}

// Nothing of the host's is to be reached.
void shut(Try& t, Box& box) {
  const Listener listener;
  for (const auto& address : host_addresses()) {
    const Outside outside = run_outside({t.backend.probe(), "connect", address, listener.port()});
    control(t, outside.code == 0, "the listener at " + address + " is not reached from outside");
    const Ran ran = box.probe({"connect", address, listener.port()});
    t.expect(ran.ok() && ran.exit.exit_code == 1,
             "the host is reached at " + address + ": " + ran.told());
  }
}

void off(Try& t) {
  needs_key(t, "network.mode", "off");
  const Made made = try_create(t, with_mode("off"));
  t.require(made.answer.ok(), "network off: " + made.answer.text());
  Box box(t, with_mode("off"));
  if (!promised(t, box.report(), "network.mode")) return;
  shut(t, box);
}

void off_loopback(Try& t) {
  needs_key(t, "network.mode", "off");
  Box box(t, with_mode("off"));
  if (!promised(t, box.report(), "network.mode")) return;
  const Ran ran = box.probe({"loopback"});
  // A backend without a network of its own for each sandbox may have none, and says so.
  const std::string& told = box.report().find("network.mode")->reason;
  if (!ran.exited(0) && told.find("loopback") != std::string::npos) return t.note(told);
  t.expect(ran.exited(0),
           "loopback inside does not work, which the line does not tell: " + ran.told());
}

void unrestricted(Try& t) {
  needs_key(t, "network.mode", "unrestricted");
  const Made made = try_create(t, with_mode("unrestricted"));
  if (made.answer.returned && !made.answer.ok()) {
    t.note("refused: " + made.answer.text());
    return;
  }
  Box box(t, with_mode("unrestricted"));
  if (!promised(t, box.report(), "network.mode")) return;
  if (t.backend.plugin().is("remote")) Try::skip("it is on another machine");
  const Listener listener;
  const Ran ran = box.probe({"connect", "127.0.0.1", listener.port()});
  t.expect(ran.exited(0), "the host's network is promised and not reached: " + ran.told());
}

// Without the host's filter, which the suite is not, nothing may pass: refused or shut.
void filtered(Try& t) {
  for (const char* mode : {"limited", "allowed_hosts"}) {
    if (!t.backend.plugin().profile.allows("network.mode", mode)) continue;
    json::object profile = with_mode(mode);
    if (t.backend.plugin().profile.lists("network.allow")) {
      profile["network"].get_object()["allow"] = json::array();
    }
    const Made made = try_create(t, profile);
    if (made.answer.returned && !made.answer.ok()) {
      t.note(std::string(mode) + " is refused");
      continue;
    }
    Box box(t, profile);
    if (promised(t, box.report(), "network.mode")) shut(t, box);
  }
}

void abstract_sockets(Try& t) {
  const std::string name = new_token();
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::memcpy(at.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const bool listens =
      ::bind(fd, reinterpret_cast<sockaddr*>(&at), size) == 0 && ::listen(fd, 8) == 0;
  const std::shared_ptr<void> closer(nullptr, [fd](void*) { ::close(fd); });
  control(t, listens && run_outside({t.backend.probe(), "abstract", name}).code == 0,
          "an abstract socket of the host is not reached from outside");
  Box box(t);
  if (!guaranteed(t, box.report(), "isolation.abstract_sockets")) return;
  const Ran ran = box.probe({"abstract", name});
  t.expect(ran.ok() && ran.exit.exit_code == 1,
           "an abstract socket of the host is reached: " + ran.told());
}

}  // namespace

void add_network(Suite& s) {
  s.add("network.off", "without a network no address of the host is reached", off);
  s.add("network.loopback", "without a network loopback inside works", off_loopback);
  s.add("network.unrestricted", "the host's network is there where that is promised", unrestricted);
  s.add("network.filtered", "filtered modes without a filter are refused or shut", filtered);
  s.add("network.abstract_sockets", "abstract sockets of the host are out of reach",
        abstract_sockets);
}

}  // namespace bulkhead::sdk::contract
