// The probe's orders.
#include "probe.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>

namespace {

// Swaps what PATH is, folder and link in turn, until it is ended.
void swap(const char* path, const char* other) {
  const std::string link = std::string(path) + ".link", folder = std::string(path) + ".folder";
  (void)::symlink(other, link.c_str());
  for (;;) {
    (void)::syscall(SYS_renameat2, AT_FDCWD, link.c_str(), AT_FDCWD, path, 2 /* exchange */);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  auto word = [&](int n) { return n < argc ? argv[n] : ""; };
  auto number = [&](int n) { return std::atoi(word(n)); };
  if (what == "calls") probe::calls(word(2) == std::string("alone"));
  if (what == "set_ids") probe::set_ids();
  if (what == "sockets") probe::sockets();
  if (what == "reach") probe::say("reach", probe::reach(word(2)));
  if (what == "network") probe::network(word(2), number(3));
  if (what == "loopback") probe::loopback();
  if (what == "serve") probe::serve(number(2));
  if (what == "write") probe::say("write", ::open(word(2), O_WRONLY));
  if (what == "read") probe::say("read", ::open(word(2), O_RDONLY | O_NONBLOCK));
  if (what == "swap" && argc > 3) swap(argv[2], argv[3]);
  if (what == "forks") probe::forks(number(2));
  if (what == "eat") probe::eat(number(2));
  if (what == "shared") probe::shared(number(2));
  if (what == "spin") probe::spin(number(2));
  if (what == "descriptors") probe::descriptors(number(2));
  if (what == "fill") probe::fill(word(2), number(3), number(4));
  if (what == "notifiers") probe::notifiers(number(2), word(3) == std::string("hold"));
  if (what == "pipes") probe::pipes(number(2));
  if (what == "touch") probe::touch(number(2));
  if (what == "terminal") probe::terminal();
  if (what == "rights") probe::rights();
  if (what == "holds") probe::say("holds", ::fcntl(number(2), F_GETFD));
  if (what == "who") probe::count("who", ::geteuid());
  if (what == "ignore") {
    for (int i = 1; i < 32; ++i) ::signal(i, SIG_IGN);
    std::printf("ready\n");
    std::fflush(stdout);
    for (;;) ::pause();
  }
  if (what == "bomb") {
    for (;;) (void)::fork();
  }
  return 0;
}
