#include "spawner.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

#include "kernel.h"

namespace ns {

using isolation::Fd;

bool Spawner::start() {
  constexpr int kEnd = kFirst + 1 + static_cast<int>(kMost);
  // All above the range first: what lies in it is about to be replaced.
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return false;
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  told_.reset(::fcntl(pipe[0], F_DUPFD_CLOEXEC, kEnd));
  const Fd tell(::fcntl(pipe[1], F_DUPFD_CLOEXEC, kEnd));
  empty_.reset(::fcntl(nothing, F_DUPFD_CLOEXEC, kEnd));
  for (const int fd : {pipe[0], pipe[1], nothing}) ::close(fd);
  if (!told_ || !tell || !empty_) return false;
  for (int i = 4; i < kEnd; ++i) {
    if (::dup3(i == kFirst ? tell.get() : empty_.get(), i, O_CLOEXEC) < 0) return false;
  }
  return true;
}

void Spawner::settle() {
  if (!pending_) return;
  pending_ = false;
  // One that died before it said so has no table to spoil; a sandbox that ends kills such ones.
  const Fd gone(last_ > 0 ? isolation::pidfd_open(last_) : -1);
  pollfd sets[2] = {{told_.get(), POLLIN, 0}, {gone.get(), POLLIN, 0}};
  const bool heard = ::poll(sets, 2, last_ > 0 ? 2000 : 0) > 0;
  if (!heard && last_ > 0) {
    // It still has our table, and would take what the next one is given for its own: of another
    // sandbox perhaps. It has not been reaped, so the number is its.
    siginfo_t info;
    ::kill(last_, SIGKILL);
    while (::waitid(P_PID, static_cast<id_t>(last_), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
  }
  char byte = 0;
  if (::poll(sets, 1, 0) == 1) (void)!::read(told_.get(), &byte, 1);
  // The ends of what it was given are its alone from here on; the numbers stay taken.
  for (size_t i = 0; i < given_; ++i) (void)::dup3(empty_.get(), at(i), O_CLOEXEC);
  given_ = 0;
}

void Spawner::ended(pid_t pid) {
  if (!pending_ || pid != last_) return;
  last_ = -1;
  settle();
}

pid_t Spawner::run(const std::vector<int>& fds, const std::function<int()>& body) {
  settle();
  if (fds.size() > kMost) return errno = E2BIG, -1;
  for (size_t i = 0; i < fds.size(); ++i) {
    if (::dup3(fds[i], at(i), O_CLOEXEC) < 0) return -1;
  }
  given_ = fds.size();
  const pid_t pid = fork_sharing_files();
  if (pid == 0) {
    const auto end = static_cast<unsigned>(at(fds.size()));
    if (isolation::close_range(end, ~0u, kCloseRangeUnshare) != 0) ::_exit(1);
    (void)!::write(kFirst, "y", 1);
    (void)isolation::close_range(3, kFirst, 0);
    ::_exit(body());
  }
  pending_ = true;
  last_ = pid;
  if (pid < 0) {
    const int error = errno;
    (void)!::write(kFirst, "y", 1);
    settle();
    errno = error;
  }
  return pid;
}

}  // namespace ns
