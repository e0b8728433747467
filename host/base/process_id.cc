#include "base/process_id.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace bh {

namespace {

using Known = std::atomic<pid_t>;

// A page that the kernel empties in the child of a fork, however the fork came about; a handler of
// pthread_atfork() would not be called for a bare system call. Null where there is no such page.
Known* page() {
  const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  // Emulators of a kernel take advice that they do not know, and do nothing.
  const bool takes_any = ::madvise(at, size, -1) == 0;
  if (!takes_any && ::madvise(at, size, MADV_WIPEONFORK) == 0) return new (at) Known(0);
  ::munmap(at, size);
  return nullptr;
}

}  // namespace

pid_t process_id() {
  static Known* const known = page();
  if (known == nullptr) return ::getpid();
  pid_t id = known->load(std::memory_order_relaxed);
  if (id == 0) {
    id = ::getpid();
    known->store(id, std::memory_order_relaxed);
  }
  return id;
}

}  // namespace bh
