#include "cli/outlet.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "support/catch.h"
#include "temp_dir.h"

using bh::cli::Outlet;

namespace {

std::size_t drain(int fd) {
  char buffer[65536];
  std::size_t all = 0;
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  for (ssize_t n = 0; (n = ::read(fd, buffer, sizeof buffer)) > 0;) {
    all += static_cast<std::size_t>(n);
  }
  return all;
}

// Fills a channel that nobody reads, then reads it, then closes the reader.
void check_channel(int reader, int writer) {
  Outlet outlet(writer);
  std::string big(8 << 20, 'x');
  std::string_view rest = big;
  REQUIRE(outlet.push(rest) == Outlet::State::kFull);
  std::size_t first = big.size() - rest.size();
  CHECK(first > 0);
  CHECK(drain(reader) == first);
  // The description is shared with whoever started us: it has to stay as it was.
  CHECK((::fcntl(writer, F_GETFL) & O_NONBLOCK) == 0);
  CHECK(outlet.push(rest) == Outlet::State::kFull);
  drain(reader);
  std::string_view last = "end";
  CHECK(outlet.push(last) == Outlet::State::kDone);
  ::close(reader);
  last = "gone";
  CHECK(outlet.push(last) == Outlet::State::kClosed);
  ::close(writer);
}

}  // namespace

TEST_CASE("writing never waits and tells a reader that is gone") {
  // The program blocks SIGPIPE for good; so does this process.
  ::signal(SIGPIPE, SIG_IGN);
  int fds[2];
  SECTION("pipe") { REQUIRE(::pipe2(fds, O_CLOEXEC) == 0); }
  SECTION("socket") { REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0); }
  check_channel(fds[0], fds[1]);
}

TEST_CASE("a file takes everything, a full device says so") {
  bh_test::TempDir dir;
  int fd = ::open((dir.path() + "/f").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  REQUIRE(fd >= 0);
  {
    Outlet outlet(fd);
    std::string_view rest = "bytes";
    CHECK(outlet.push(rest) == Outlet::State::kDone);
  }
  ::close(fd);
  CHECK(dir.read("f") == "bytes");
  int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  if (full < 0) return;
  {
    Outlet outlet(full);
    std::string_view rest = "bytes";
    CHECK(outlet.push(rest) == Outlet::State::kFailed);
    CHECK(outlet.error() == ENOSPC);
  }
  ::close(full);
}
