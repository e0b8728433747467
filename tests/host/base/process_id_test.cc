#include "base/process_id.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/catch.h"
#include "support/skip.h"
#include "support/syscall_answer.h"

namespace {

// The child says by its exit code whether it knew itself.
template <class Fork>
int code_of_child(Fork fork_by) {
  const pid_t child = fork_by();
  if (child == 0) ::_exit(bh::process_id() == ::getpid() ? 7 : 8);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("a process knows its id, and a child does not take its parent's") {
  CHECK(bh::process_id() == ::getpid());
  CHECK(bh::process_id() == ::getpid());
  CHECK(code_of_child([] { return ::fork(); }) == 7);
  // Past the C library, which then calls no handlers.
  CHECK(code_of_child([] { return static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }) == 7);
  CHECK(bh::process_id() == ::getpid());
}

// Started by the next one, in a process whose kernel takes every advice and does nothing.
TEST_CASE("a child knows itself where advice about memory is taken and not followed", "[.][advice]") {
  CHECK(bh::process_id() == ::getpid());
  CHECK(code_of_child([] { return ::fork(); }) == 7);
}

TEST_CASE("a child knows itself also where the kernel only says that it takes advice") {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!bh_test::answer_syscall(SYS_madvise, 0)) ::_exit(99);
    ::execl("/proc/self/exe", "host_base_test", "[advice]", static_cast<char*>(nullptr));
    ::_exit(98);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 99) BH_SKIP("system calls cannot be filtered here");
  CHECK(WEXITSTATUS(status) == 0);
}
