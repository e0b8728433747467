#include "core/ready_fd.h"

#include <sys/eventfd.h>

#include <cstdint>

namespace bh {

bh_fd ReadyFd::get() {
  std::lock_guard lock(mutex_);
  if (!fd_) fd_ = Fd(::eventfd(ready_ ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK));
  return fd_.get();
}

void ReadyFd::set(bool ready) {
  std::lock_guard lock(mutex_);
  if (ready == ready_) return;
  ready_ = ready;
  if (!fd_) return;
  std::uint64_t one = 1;
  ssize_t done = ready ? ::write(fd_.get(), &one, sizeof one) : ::read(fd_.get(), &one, sizeof one);
  (void)done;  // The counter is small, and above 0 where it is read, so neither can fail.
}

void ReadyFd::again() {
  std::lock_guard lock(mutex_);
  if (!fd_ || !ready_) return;
  std::uint64_t one = 1;
  ssize_t done = ::write(fd_.get(), &one, sizeof one);
  (void)done;
}

}  // namespace bh
