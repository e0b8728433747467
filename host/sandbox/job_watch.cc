#include "sandbox/job_watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <sys/syscall.h>

#include <array>

#include "sandbox/job_output.h"

namespace bh {
namespace {

// How long we sleep where the system has no watch left to give.
constexpr int kLookMs = 100;

}  // namespace

JobWatch::JobWatch(const DataRoot& root, const std::string& job, const ProcessName& owner)
    : changes_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  const std::string path = root.path() + "/" + job_files::folder(job) + "/" + job_files::kProgress;
  if (changes_ && ::inotify_add_watch(changes_.get(), path.c_str(), IN_MODIFY | IN_DELETE_SELF) < 0) {
    changes_.reset();
  }
  if (owner.here() || owner.nobody()) return;
  owner_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, owner.pid, 0)));
  // Another process may have got the number: then the owner is gone, which the caller sees for itself.
  if (owner_ && !owner.alive()) owner_.reset();
}

bh_status JobWatch::wait(Call& call) {
  if (bh_status stop = call.stop_reason()) return stop;
  std::array<pollfd, 3> fds{pollfd{static_cast<int>(call.cancel_fd()), POLLIN, 0},
                            pollfd{changes_.get(), POLLIN, 0},
                            pollfd{owner_.get(), POLLIN, 0}};
  (void)::poll(fds.data(), fds.size(), changes_ ? -1 : kLookMs);
  // How much is not told: all that waited is one reason to look.
  std::array<char, 4096> told;
  while (changes_ && ::read(changes_.get(), told.data(), told.size()) > 0) {
  }
  return call.stop_reason();
}

}  // namespace bh
