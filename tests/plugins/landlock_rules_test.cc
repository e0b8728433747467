// The ruleset builder, on every version that this kernel can play.
#include <netinet/in.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <bulkhead/sdk/isolation/landlock.hpp>
#include <functional>

#include "support/catch.h"
#include "support/sandboxes.h"
#include "support/skip.h"

using namespace bh_test;
namespace isolation = bulkhead::sdk::isolation;
namespace landlock = isolation::landlock;

namespace {

constexpr landlock::Handled kAll{UINT64_MAX, UINT64_MAX, UINT64_MAX};

// 0 or the errno of `attempt`, in a process of its own and within the domain, if one is given.
int tried(const landlock::Ruleset* rules, const std::function<long()>& attempt) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (rules != nullptr && !rules->enforce(landlock::kQuiet)) ::_exit(255);
    ::_exit(attempt() >= 0 ? 0 : errno);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) != 255);
  return WEXITSTATUS(status);
}

void allow(const landlock::Ruleset& rules, const std::string& path, uint64_t rights) {
  const isolation::Fd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  REQUIRE(fd);
  REQUIRE(rules.allow(fd.get(), rights));
}

// A listening socket of ours and the way to connect to it.
struct Listener {
  Listener() {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    fd.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::bind(fd.get(), reinterpret_cast<sockaddr*>(&name), sizeof name) == 0);
    REQUIRE(::listen(fd.get(), 8) == 0);
    REQUIRE(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&name), &size) == 0);
    address = name;
  }
  long connect() const {
    const int to = ::socket(AF_INET, SOCK_STREAM, 0);
    return ::connect(to, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  isolation::Fd fd;
  sockaddr_in address{};
};

}  // namespace

TEST_CASE("what each version of Landlock handles") {
  CHECK(landlock::handled_by(0).files == 0);
  CHECK(landlock::handled_by(-1).files == 0);
  CHECK((landlock::handled_by(1).files & landlock::kMove) == 0);
  CHECK((landlock::handled_by(2).files & landlock::kMove) != 0);
  CHECK((landlock::handled_by(2).files & landlock::kTruncate) == 0);
  CHECK((landlock::handled_by(3).files & landlock::kTruncate) != 0);
  CHECK(landlock::handled_by(3).ports == 0);
  CHECK(landlock::handled_by(4).ports == (landlock::kBindTcp | landlock::kConnectTcp));
  CHECK((landlock::handled_by(5).files & landlock::kDeviceIoctl) != 0);
  CHECK(landlock::handled_by(5).scopes == 0);
  CHECK(landlock::handled_by(6).scopes == (landlock::kAbstractSockets | landlock::kSignals));
  CHECK((landlock::handled_by(8).files & landlock::kLocalSocket) == 0);
  CHECK((landlock::handled_by(9).files & landlock::kLocalSocket) != 0);
}

TEST_CASE("a domain refuses what no rule allows, whichever version is played") {
  const int newest = isolation::landlock_version();
  if (newest < 1) BH_SKIP("this kernel has no Landlock");
  const int version = GENERATE_COPY(range(1, newest + 1));
  CAPTURE(version);
  Folder folder;
  const std::string in = folder.make("in"), deep = folder.make("in/deep");
  const std::string file = folder.write("out/file", "text");
  folder.write("in/own", "text");
  ::chmod(folder.path().c_str(), 0755);

  const auto rules = landlock::Ruleset::make(kAll, version);
  REQUIRE(rules);
  CHECK(rules.handled().files == landlock::handled_by(version).files);
  CHECK(rules.handled().scopes == landlock::handled_by(version).scopes);
  allow(rules, in, landlock::kWriting);
  allow(rules, "/dev/null", landlock::kReadFile | landlock::kWriteFile);

  auto open = [](std::string path, int flags) {
    return [=] { return static_cast<long>(::open(path.c_str(), flags, 0600)); };
  };
  auto move = [](std::string from, std::string to) {
    return [=] { return static_cast<long>(::rename(from.c_str(), to.c_str())); };
  };
  CHECK(tried(nullptr, open(file, O_RDONLY)) == 0);
  CHECK(tried(&rules, open(file, O_RDONLY)) == EACCES);
  CHECK(tried(&rules, open(file, O_WRONLY)) == EACCES);
  CHECK(tried(&rules, open(folder.path() + "/out", O_RDONLY | O_DIRECTORY)) == EACCES);
  CHECK(tried(&rules, open(folder.path() + "/out/new", O_WRONLY | O_CREAT)) == EACCES);
  CHECK(tried(&rules, open("/dev/null", O_RDWR)) == 0);
  CHECK(tried(&rules, open("/dev/zero", O_RDONLY)) == EACCES);
  CHECK(tried(&rules, open(in + "/new", O_WRONLY | O_CREAT)) == 0);
  const std::string device = in + "/device";
  CHECK(tried(&rules, [&] { return ::mknod(device.c_str(), S_IFCHR | 0600, 0x103); }) != 0);
  // Into the folder from outside, and between two folders of its own.
  CHECK(tried(&rules, move(file, in + "/taken")) != 0);
  CHECK(tried(&rules, move(in + "/own", deep + "/own")) == (version >= 2 ? 0 : EXDEV));
  CHECK(tried(&rules, move(in + "/new", in + "/renamed")) == 0);
  // Below version 3 nothing stands in the way of emptying a file; read() tells it happened.
  CHECK(tried(&rules, [&] { return ::truncate(file.c_str(), 1); }) == (version >= 3 ? EACCES : 0));
  CHECK(read(file) == (version >= 3 ? "text" : "t"));
}

TEST_CASE("a domain's ports, sockets and signals") {
  if (isolation::landlock_version() < 6) BH_SKIP("that takes Landlock 6, of Linux 6.12");
  const Listener listener;
  const auto closed = landlock::Ruleset::make({0, UINT64_MAX, UINT64_MAX});
  REQUIRE(closed);
  const auto open = landlock::Ruleset::make({0, UINT64_MAX, 0});
  REQUIRE(open);
  REQUIRE(open.allow_port(ntohs(listener.address.sin_port), landlock::kConnectTcp));
  CHECK(tried(nullptr, [&] { return listener.connect(); }) == 0);
  CHECK(tried(&closed, [&] { return listener.connect(); }) == EACCES);
  CHECK(tried(&open, [&] { return listener.connect(); }) == 0);

  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string text = "bulkhead-test-" + std::to_string(::getpid());
  ::memcpy(name.sun_path + 1, text.data(), text.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  const isolation::Fd local(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::bind(local.get(), reinterpret_cast<sockaddr*>(&name), size) == 0);
  REQUIRE(::listen(local.get(), 8) == 0);
  auto connect = [&] {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    return static_cast<long>(::connect(fd, reinterpret_cast<sockaddr*>(&name), size));
  };
  CHECK(tried(nullptr, connect) == 0);
  CHECK(tried(&closed, connect) == EPERM);

  const pid_t us = ::getpid();
  CHECK(tried(nullptr, [&] { return ::kill(us, 0); }) == 0);
  CHECK(tried(&closed, [&] { return ::kill(us, 0); }) == EPERM);
}

TEST_CASE("what is not handled is not refused, and a ruleset of nothing is none") {
  if (isolation::landlock_version() < 1) BH_SKIP("this kernel has no Landlock");
  const auto writing = landlock::Ruleset::make({landlock::kWriteFile, 0, 0});
  REQUIRE(writing);
  CHECK(tried(&writing, [] { return ::open("/etc/passwd", O_RDONLY); }) == 0);
  CHECK(tried(&writing, [] { return ::open("/dev/null", O_WRONLY); }) == EACCES);
  CHECK_FALSE(landlock::Ruleset::make({}));
  CHECK_FALSE(landlock::Ruleset::make({0, UINT64_MAX, 0}, 3));
}
