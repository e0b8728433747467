// bulkhead-contract-probe: what the suite runs where /bin/sh cannot do it or may not be there.
// Static, so that a sandbox with another root runs it too. Each attempt prints what came of it in
// words.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "verbs.h"

namespace {

int64_t now_ms(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return int64_t{t.tv_sec} * 1000 + t.tv_nsec / 1000000;
}

// "ok", or the error's name.
int tell(bool good) {
  std::printf("%s\n", good ? "ok" : ::strerror(errno));
  return good ? 0 : 1;
}

int args(int argc, char** argv) {
  for (int i = 0; i < argc; ++i) {
    for (const char* c = argv[i]; *c != '\0'; ++c)
      std::printf("%02x", static_cast<unsigned char>(*c));
    std::printf("\n");
  }
  return 0;
}

// Holds that many bytes for real.
int memory(size_t bytes) {
  const size_t step = size_t{4} << 20;
  for (size_t held = 0; held < bytes; held += step) {
    void* p = ::mmap(nullptr, step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return tell(false);
    std::memset(p, 0x5a, step);
  }
  return tell(true);
}

// How many children there can be at once, up to `most`.
int forks(int most) {
  int made = 0;
  std::vector<pid_t> all;
  while (made < most) {
    const pid_t pid = ::fork();
    if (pid < 0) break;
    if (pid == 0) {
      ::pause();
      ::_exit(0);
    }
    all.push_back(pid);
    ++made;
  }
  for (const pid_t pid : all) ::kill(pid, SIGKILL);
  for (const pid_t pid : all) ::waitpid(pid, nullptr, 0);
  std::printf("%d\n", made);
  return 0;
}

// Children without end, each of which makes more, and nobody who waits.
int bomb() {
  for (;;) {
    if (::fork() < 0) ::usleep(1000);
  }
}

int open_files() {
  int n = 0;
  while (n < 100000 && ::dup(1) >= 0) ++n;
  std::printf("%d\n", n);
  return 0;
}

// How many bytes could be written into files of 1 MiB each in `folder`, up to `megabytes`.
int fill(const std::string& folder, int megabytes) {
  static char block[1 << 20];
  ::signal(SIGXFSZ, SIG_IGN);
  int done = 0;
  for (int i = 0; i < megabytes; ++i) {
    const std::string path = folder + "/fill-" + std::to_string(i);
    const int fd = ::open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644);
    const bool good =
        fd >= 0 && ::write(fd, block, sizeof block) == static_cast<ssize_t>(sizeof block);
    ::close(fd);
    if (!good) break;
    ++done;
  }
  for (int i = 0; i < megabytes; ++i) ::unlink((folder + "/fill-" + std::to_string(i)).c_str());
  std::printf("%d\n", done);
  return 0;
}

// The processor time that `workers` got in `ms`, in thousandths of a core.
int burn(int ms, int workers) {
  const int64_t begun = now_ms(CLOCK_MONOTONIC);
  for (int i = 0; i < workers; ++i) {
    if (::fork() == 0) {
      volatile unsigned long x = 0;
      while (now_ms(CLOCK_MONOTONIC) - begun < ms) {
        for (int k = 0; k < 100000; ++k) x = x + 1;
      }
      ::_exit(0);
    }
  }
  while (::wait(nullptr) > 0) {
  }
  const int64_t wall = now_ms(CLOCK_MONOTONIC) - begun;
  rusage_ms used;
  std::printf("%lld\n", static_cast<long long>(used.children() * 1000 / (wall > 0 ? wall : 1)));
  return 0;
}

int stay(bool deaf) {
  if (deaf) {
    for (int number = 1; number < 32; ++number) ::signal(number, SIG_IGN);
  }
  std::printf("lingers\n");
  std::fflush(stdout);
  for (;;) ::pause();
}

// Leaves a child in a session of its own, whose parent is gone; `held`: with stdout open.
int daemon_away(bool held) {
  int ready[2];
  if (::pipe(ready) != 0) return tell(false);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    for (int number = 1; number < 32; ++number) ::signal(number, SIG_IGN);
    if (!held) {
      const int null = ::open("/dev/null", O_RDWR);
      for (int fd = 0; fd < 3; ++fd) {
        if (null >= 0) ::dup2(null, fd);
        if (null < 0) ::close(fd);
      }
    }
    (void)!::write(ready[1], "x", 1);
    ::close(ready[0]);
    ::close(ready[1]);
    for (;;) ::pause();
  }
  ::waitpid(pid, nullptr, 0);
  char c;
  (void)!::read(ready[0], &c, 1);
  return tell(pid > 0);
}

int usage() {
  std::fprintf(stderr, "bulkhead-contract-probe is run by bulkhead-contract\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  auto text = [&](int i) { return std::string(argc > i ? argv[i] : ""); };
  auto number = [&](int i) { return argc > i ? std::atoll(argv[i]) : 0; };
  if (verb == "hello") {
    std::printf("hello\n");
    return 0;
  }
  if (verb == "args") return args(argc - 2, argv + 2);
  if (verb == "memory") return memory(static_cast<size_t>(number(2)));
  if (verb == "forks") return forks(static_cast<int>(number(2)));
  if (verb == "bomb") return bomb();
  if (verb == "open_files") return open_files();
  if (verb == "fill") return fill(text(2), static_cast<int>(number(3)));
  if (verb == "burn") return burn(static_cast<int>(number(2)), static_cast<int>(number(3)));
  if (verb == "linger") return stay(text(3) == "deaf");  // 2: a token, to be found by
  if (verb == "daemon") return daemon_away(text(3) == "held");
  const int code = reach(verb, text(2), text(3));
  return code >= 0 ? code : usage();
}
