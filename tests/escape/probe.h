// What the parts of the probe share. It runs inside a sandbox and tries what must not work there;
// each try is one line "NAME ok" or "NAME ERRNO". Static, so that it runs whatever the sandbox
// shows.
#pragma once

#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace probe {

inline void say(const char* name, long result) {
  std::printf("%s %s\n", name, result >= 0 ? "ok" : std::to_string(errno).c_str());
  std::fflush(stdout);
}
inline void count(const char* name, long n) {
  std::printf("%s %ld\n", name, n);
  std::fflush(stdout);
}

// What each try does first, where there is something.
inline bool (*before)() = nullptr;

// In a child, so that what does work spoils nothing for the next try.
template <class Try>
void attempt(const char* name, Try what) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (before != nullptr && !before()) ::_exit(1);
    say(name, what());
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
}

inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                 long f = 0) {
  return ::syscall(number, a, b, c, d, e, f);
}
inline long text(const char* s) { return reinterpret_cast<long>(s); }

// probe_calls.cc: system calls. `alone`: each in a mount namespace of its own, so that what is let
// through does nothing to the machine.
void calls(bool alone);
void set_ids();
// probe_sockets.cc
void sockets();
long reach(const char* path);  // connect to a socket by path; '@' in front: an abstract one
void network(const char* address, int port);
void loopback();
void serve(int port);  // takes connections until it is ended
// probe_load.cc: using things up, and what of a process can be touched.
void forks(int wanted);
void eat(int mib);
void shared(int mib);
void spin(int milliseconds);
void descriptors(int wanted);
void fill(const char* folder, int files, int kib);
void notifiers(int wanted, bool hold);
void pipes(int wanted);
void touch(int pid);
void terminal();
void rights();

}  // namespace probe
