// bulkhead-image-walls free|behind|user: tries, with the worker's walls or without them, what the
// worker may not, and prints a word for each: its errno, or "done". 3 is the target, 0 the source.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "images/worker/confine.h"

namespace {

void say(const char* what, bool done) {
  std::printf("%s=%s\n", what, done ? "done" : ::strerrorname_np(errno));
}

void try_all(const std::string& outside) {
  say("read_inside", ::openat(3, "inside", O_RDONLY) >= 0);
  say("make_inside", ::openat(3, "made", O_WRONLY | O_CREAT | O_EXCL, 0600) >= 0);
  say("read_outside", ::open(outside.c_str(), O_RDONLY) >= 0);
  say("write_outside", ::open((outside + "-made").c_str(), O_WRONLY | O_CREAT, 0600) >= 0);
  say("up", ::openat(3, "../outside", O_RDONLY) >= 0);
  say("socket", ::socket(AF_INET, SOCK_STREAM, 0) >= 0);
  say("unix_socket", ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
  say("setuid", ::fchmod(3, 04755) == 0);
  say("device", ::mknodat(3, "device", S_IFIFO | 0600, 0) == 0);
  say("xattr", ::fsetxattr(3, "user.bulkhead", "x", 1, 0) == 0 || errno == ENOTSUP);
  say("signal", ::kill(::getppid(), 0) == 0);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  say("fork", child > 0);
  char* const argv[] = {const_cast<char*>("true"), nullptr};
  std::fflush(stdout);
  ::execv("/bin/true", argv);
  say("exec", false);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (std::string_view(argv[1]) == "behind") {
    auto walls = bh::unpack::confine({0, 3, 1 << 20, bh::unpack::can_keep_ids()});
    if (!walls) {
      std::fprintf(stderr, "%s\n", walls.error().message.c_str());
      return 1;
    }
    std::printf("landlock=%d\n", static_cast<int>(bh::json::get_int(*walls, "landlock")));
  }
  try_all(argv[2]);
}
