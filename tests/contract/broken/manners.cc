// Faults towards the process that a plugin lives in, and towards the rules of calls.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "fault.h"

extern char** environ;

namespace broken {

namespace {

template <void (*before)()>
bh_status exec(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  before();
  return good().exec(box, call, what, out);
}

void leak_descriptor() { (void)::open("/dev/null", O_RDONLY | O_CLOEXEC); }
void open_without_cloexec() {
  static const int once = ::open("/dev/null", O_RDONLY);
  (void)once;
}
void leave_child() {
  char* argv[] = {const_cast<char*>("true"), nullptr};
  pid_t pid = -1;
  (void)::posix_spawn(&pid, "/bin/true", nullptr, nullptr, argv, environ);
}
void leave_sleeper() {
  static pid_t once = [] {
    char* argv[] = {const_cast<char*>("sleep"), const_cast<char*>("20"), nullptr};
    pid_t pid = -1;
    (void)::posix_spawn(&pid, "/bin/sleep", nullptr, nullptr, argv, environ);
    return pid;
  }();
  (void)once;
}
void print() { ::fputs("a command runs\n", stderr); }
void change_process() {
  (void)::umask(0);
  (void)::setenv("LEFT_BY_PLUGIN", "yes", 1);
  (void)::signal(SIGUSR2, SIG_IGN);
}
void change_mask() {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigaddset(&none, SIGPIPE);
  ::pthread_sigmask(SIG_UNBLOCK, &none, nullptr);
}

bh_status speaks_late(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  std::thread([call] {
    ::usleep(300000);
    (void)call->api->wait(call, 0);
  }).detach();
  return good().exec(box, call, what, out);
}
bh_status two_results(void* self, bh_call* call, const char* id, size_t id_size,
                      const char* profile, size_t size, void** out) {
  Bent bent(call);
  bent.result = [&](std::string_view text) {
    (void)bent.pass_result(text);
    return bent.pass_result(text);
  };
  return good().create(self, bent.raw(), id, id_size, profile, size, out);
}
bh_status no_word(void* box, bh_call* call, const bh_exec* what, bh_exit* out) {
  Bent bent(call);
  bent.fail = [&](bh_status code, std::string_view text, std::string_view) {
    return call->api->fail(call, code, text.data(), text.size(), "{}", 2);
  };
  return exec_good(box, bent, what, out);
}
bh_status sandbox_leaks(void* self, bh_call* call, const char* id, size_t id_size,
                        const char* profile, size_t size, void** out) {
  leak_descriptor();
  return good().create(self, call, id, id_size, profile, size, out);
}
bh_status not_together(void* self, bh_call* call, const char* id, size_t id_size,
                       const char* profile, size_t size, void** out) {
  static int inside = 0;
  if (__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST) > 1) {
    __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
    return call->api->fail(call, BH_UNAVAILABLE, "busy", 4, R"({"reason":"busy"})", 17);
  }
  ::usleep(1000);
  const bh_status st = good().create(self, call, id, id_size, profile, size, out);
  __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
  return st;
}
bh_status destroy_busy(void* self, bh_call* call, const char* id, size_t size) {
  static int asked = 0;
  if (asked++ == 0)
    return call->api->fail(call, BH_UNAVAILABLE, "busy", 4, R"({"reason":"busy"})", 17);
  return good().destroy(self, call, id, size);
}

}  // namespace

std::vector<Fault> manners() {
  return {
      {"leaks-descriptors", [](bh_isolation& t) { t.exec = &exec<&leak_descriptor>; }},
      {"sandbox-leaks", [](bh_isolation& t) { t.create = &sandbox_leaks; }},
      {"no-close-on-exec", [](bh_isolation& t) { t.exec = &exec<&open_without_cloexec>; }},
      {"leaves-child", [](bh_isolation& t) { t.exec = &exec<&leave_child>; }},
      {"leaves-sleeper", [](bh_isolation& t) { t.exec = &exec<&leave_sleeper>; }},
      {"prints", [](bh_isolation& t) { t.exec = &exec<&print>; }},
      {"changes-process", [](bh_isolation& t) { t.exec = &exec<&change_process>; }},
      {"changes-mask", [](bh_isolation& t) { t.exec = &exec<&change_mask>; }},
      {"speaks-late", [](bh_isolation& t) { t.exec = &speaks_late; }},
      {"two-results", [](bh_isolation& t) { t.create = &two_results; }},
      {"no-word", [](bh_isolation& t) { t.exec = &no_word; }},
      {"not-together", [](bh_isolation& t) { t.create = &not_together; }},
      {"destroy-busy", [](bh_isolation& t) { t.destroy = &destroy_busy; }},
  };
}

}  // namespace broken
