// Using things up, each with an end of its own, so that it can be tried without a sandbox too; and
// what of another process can be touched.
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <time.h>

#include <vector>

#include "probe.h"

namespace probe {

// How many of so many processes could be had at once.
void forks(int wanted) {
  std::vector<pid_t> children;
  while (static_cast<int>(children.size()) < wanted) {
    const pid_t child = ::fork();
    if (child < 0) break;
    if (child == 0) {
      for (;;) ::pause();
    }
    children.push_back(child);
  }
  for (const pid_t child : children) ::kill(child, SIGKILL);
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  count("forks", static_cast<long>(children.size()));
}

// How many MiB of memory could be touched.
void eat(int mib) {
  int had = 0;
  for (; had < mib; ++had) {
    void* page =
        ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) break;
    ::memset(page, 1, 1 << 20);
  }
  count("eat", had);
}

// How many MiB went into a file that is in memory alone.
void shared(int mib) {
  const int fd = static_cast<int>(call(SYS_memfd_create, text("shared"), 0));
  const std::string block(1 << 20, 'x');
  int had = 0;
  while (had < mib && ::write(fd, block.data(), block.size()) == static_cast<ssize_t>(block.size()))
    ++had;
  count("shared", had);
}

// Milliseconds of processor time that were had in so many of the clock.
void spin(int milliseconds) {
  auto now = [](clockid_t clock) {
    timespec t{};
    ::clock_gettime(clock, &t);
    return t.tv_sec * 1000L + t.tv_nsec / 1000000;
  };
  const long end = now(CLOCK_MONOTONIC) + milliseconds;
  while (now(CLOCK_MONOTONIC) < end) {
  }
  count("spin", now(CLOCK_PROCESS_CPUTIME_ID));
}

void descriptors(int wanted) {
  int had = 0;
  while (had < wanted && ::open("/", O_RDONLY) >= 0) ++had;
  count("descriptors", had);
}

// How many KiB could be written into new files of `folder`.
void fill(const char* folder, int files, int kib) {
  long had = 0;
  ::signal(SIGXFSZ, SIG_IGN);
  const std::string block(1024, 'x');
  for (int i = 0; i < files; ++i) {
    const std::string path = std::string(folder) + "/fill" + std::to_string(i);
    const int fd = ::open(path.c_str(), O_CREAT | O_WRONLY, 0600);
    if (fd < 0) break;
    for (int k = 0; k < kib && ::write(fd, block.data(), block.size()) == 1024; ++k) ++had;
    ::close(fd);
  }
  for (int i = 0; i < files; ++i) {
    (void)::unlink((std::string(folder) + "/fill" + std::to_string(i)).c_str());
  }
  count("fill", had);
}

// Of inotify there are so many a user.
void notifiers(int wanted, bool hold) {
  int had = 0;
  while (had < wanted && ::inotify_init1(0) >= 0) ++had;
  count("notifiers", had);
  for (; hold;) ::pause();
}

// KiB of kernel memory that pipes were given.
void pipes(int wanted) {
  long had = 0;
  for (int i = 0; i < wanted; ++i) {
    int ends[2];
    if (::pipe(ends) != 0) break;
    const long size = ::fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    had += size > 0 ? size / 1024 : 64;
  }
  count("pipes", had);
}

// Without harm: signal 0, an address that is not mapped, descriptor 0, and attached for a moment.
void touch(int pid) {
  attempt("signal", [&] { return ::kill(pid, 0); });
  attempt("memory",
          [&] { return ::open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY); });
  attempt("environ", [&]() -> long {
    const int fd = ::open(("/proc/" + std::to_string(pid) + "/environ").c_str(), O_RDONLY);
    char c = 0;
    return fd < 0 ? -1 : ::read(fd, &c, 1);
  });
  attempt("root", [&] {
    return ::open(("/proc/" + std::to_string(pid) + "/root/").c_str(), O_RDONLY | O_DIRECTORY);
  });
  attempt("readv", [&]() -> long {
    char c = 0;
    iovec mine{&c, 1}, theirs{reinterpret_cast<void*>(1), 1};
    const long n = ::process_vm_readv(pid, &mine, 1, &theirs, 1, 0);
    return n < 0 && errno == EFAULT ? 0 : n;
  });
  attempt("descriptor", [&] {
    const long fd = call(434 /* pidfd_open */, pid, 0);
    return fd < 0 ? fd : call(438 /* pidfd_getfd */, fd, 0, 0);
  });
  attempt("attach", [&] { return ::ptrace(PTRACE_SEIZE, pid, 0, 0); });
  attempt("affinity", [&] {
    cpu_set_t all;
    if (::sched_getaffinity(0, sizeof all, &all) != 0) return -1;
    return ::sched_setaffinity(pid, sizeof all, &all);
  });
}

// The terminal that the process was started from.
void terminal() {
  const int fd = ::open("/dev/tty", O_RDWR | O_NOCTTY);
  say("open", fd);
  attempt("type", [&] {
    char c = 'x';
    return ::ioctl(fd >= 0 ? fd : 0, TIOCSTI, &c);
  });
}

// Capabilities as numbers of set bits, and what keeps a program from getting more.
void rights() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  (void)call(SYS_capget, reinterpret_cast<long>(&header), reinterpret_cast<long>(data));
  auto bits = [](uint32_t low, uint32_t high) {
    return static_cast<long>(__builtin_popcount(low) + __builtin_popcount(high));
  };
  count("effective", bits(data[0].effective, data[1].effective));
  count("permitted", bits(data[0].permitted, data[1].permitted));
  count("inheritable", bits(data[0].inheritable, data[1].inheritable));
  long bounding = 0, ambient = 0;
  for (int i = 0; i < 64; ++i) {
    bounding += ::prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1 ? 1 : 0;
    ambient += ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, i, 0, 0) == 1 ? 1 : 0;
  }
  count("bounding", bounding);
  count("ambient", ambient);
  count("no_new_privileges", ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
  count("filter", ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0));
}

}  // namespace probe
