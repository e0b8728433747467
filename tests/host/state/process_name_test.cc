#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "state/process_name.h"
#include "support/catch.h"

TEST_CASE("this process is alive under its name, and under no other") {
  const bh::ProcessName& self = bh::ProcessName::self();
  CHECK(self.pid == ::getpid());
  CHECK(self.alive());
  CHECK(self.here());
  CHECK_FALSE(self.command().empty());
  CHECK(bh::ProcessName::parse(self.text()) == self);
  bh::ProcessName later = self;
  later.start++;
  CHECK_FALSE(later.alive());
  CHECK(later.command().empty());
  bh::ProcessName rebooted = self;
  rebooted.boot += "x";
  CHECK_FALSE(rebooted.alive());
}

TEST_CASE("nobody is not alive") {
  for (const char* text : {"", "1", "1 2", "x 2 b", "0 2 b", "-1 2 b", "1 x b"}) {
    INFO(text);
    CHECK(bh::ProcessName::parse(text).nobody());
  }
  CHECK(bh::ProcessName().text().empty());
  CHECK_FALSE(bh::ProcessName().alive());
}

TEST_CASE("a child has a name of its own, and is dead as soon as it has ended") {
  int out[2];
  REQUIRE(::pipe(out) == 0);
  (void)bh::ProcessName::self();
  pid_t child = ::fork();
  if (child == 0) {
    std::string text = bh::ProcessName::self().text();
    (void)!::write(out[1], text.data(), text.size());
    ::pause();
  }
  char buffer[200];
  ssize_t got = ::read(out[0], buffer, sizeof buffer);
  REQUIRE(got > 0);
  auto name = bh::ProcessName::parse(std::string(buffer, static_cast<std::size_t>(got)));
  CHECK(name.pid == child);
  CHECK(name.alive());
  CHECK_FALSE(name.here());
  REQUIRE(::kill(child, SIGKILL) == 0);
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  CHECK_FALSE(name.alive());  // a zombie holds nothing
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK_FALSE(name.alive());
  ::close(out[0]);
  ::close(out[1]);
}
