// Ended from outside: cancel, deadline, a reader that stops, signals.
#include <csignal>
#include <thread>

#include "../core/box.h"
#include "../core/suite.h"
#include "../core/traces.h"

namespace bulkhead::sdk::contract {

namespace {

// Stopped after it has said that it runs; true: it returned in time.
void stopped(Try& t, Box& box, const Command& command, const std::string& token, bh_status code,
             const std::string& what) {
  Running running = box.start(command);
  t.require(running.says("lingers"), what + " does not start");
  running.call().stop(code);
  const Ran ran = running.wait(kStopped);
  t.require(ran.returned, what + ": exec did not return within 2 s of being stopped");
  t.expect(ran.status == code, what + " answers " + ran.told());
  t.expect(ran.exit.reason == BH_EXIT_STOPPED, what + ": the exit's reason is " +
                                                   std::to_string(ran.exit.reason) +
                                                   " in place of BH_EXIT_STOPPED");
  t.expect(all_gone(token, seconds(1)), what + ": its process is still there");
}

void cancel(Try& t) {
  Box box(t);
  std::string token = new_token();
  stopped(t, box, box.probe_command({"linger", token}), token, BH_CANCELLED, "a waiting command");
  token = new_token();
  stopped(t, box, box.probe_command({"linger", token, "deaf"}), token, BH_CANCELLED,
          "a command that ignores signals");
  t.expect(box.sh("echo on").out == "on\n", "the sandbox does not go on after a cancel");
}

void deadline(Try& t) {
  Box box(t);
  const std::string token = new_token();
  stopped(t, box, box.probe_command({"linger", token}), token, BH_DEADLINE_EXCEEDED,
          "a command over its deadline");
}

void cancel_stopped(Try& t) {
  Box box(t);
  const std::string token = new_token();
  const std::string probe = box.probe_command({"hello"}).argv[0];
  stopped(t, box, Command{{"/bin/sh", "-c", "echo lingers; kill -STOP $$", token}}, token,
          BH_CANCELLED, "a command that stopped itself");
}

void cancel_flood(Try& t) {
  Box box(t);
  const std::string token = new_token();
  Command command{{"/bin/sh", "-c", "while :; do echo flood flood flood; done", token}};
  std::atomic<uint64_t> seen{0};
  command.sink = [&](int32_t, std::string_view bytes) {
    seen += bytes.size();
    return bh_status{BH_OK};
  };
  Running running = box.start(command);
  while (seen < 100000 && !running.done(milliseconds(1))) {
  }
  running.call().stop(BH_CANCELLED);
  const Ran ran = running.wait(kStopped);
  t.require(ran.returned, "exec did not return within 2 s of being stopped amid a flood");
  t.expect(ran.status == BH_CANCELLED, ran.told());
  t.expect(all_gone(token, seconds(1)), "its process is still there");
}

void reader_stops(Try& t) {
  Box box(t);
  const std::string token = new_token();
  std::atomic<int> emits{0};
  Command command{{"/bin/sh", "-c", "while :; do echo more; done", token}};
  command.sink = [&](int32_t, std::string_view) {
    return bh_status{++emits >= 3 ? BH_CANCELLED : BH_OK};
  };
  Running running = box.start(command);
  const Ran ran = running.wait(seconds(10));
  t.require(ran.returned, "exec goes on although emit() said to stop");
  t.expect(ran.status == BH_CANCELLED, "it answers " + ran.told() + " in place of emit()'s code");
  t.expect(all_gone(token, seconds(1)), "its process is still there");
}

void early_cancel(Try& t) {
  Box box(t);
  for (const int ms : {0, 1, 3, 8, 20}) {
    const std::string token = new_token();
    Running running = box.start(box.probe_command({"linger", token}));
    (void)running.done(milliseconds(ms));
    running.call().stop(BH_CANCELLED);
    const Ran ran = running.wait(kStopped);
    t.require(ran.returned, "a cancel while it starts is not heard");
    t.expect(ran.status == BH_CANCELLED, ran.told());
    t.expect(all_gone(token, seconds(1)), "its process is still there");
  }
}

void signalled(Try& t) {
  Box box(t);
  Command command{{"/bin/sh", "-c",
                   "trap 'echo heard; exit 4' USR1; echo ready; while :; do sleep 0.05; done"}};
  Running running = box.start(command);
  t.require(running.says("ready"), "the command does not start");
  const Answer sent = box.signal(running.id(), SIGUSR1);
  t.expect(sent.ok(), "signal: " + sent.text());
  const Ran ran = running.wait(seconds(20));
  t.expect(ran.ok() && ran.out.find("heard") != std::string::npos && ran.exit.exit_code == 4,
           "after SIGUSR1: " + ran.told());
  const Answer late = box.signal(running.id(), SIGTERM);
  t.expect(late.returned && late.status == BH_NOT_FOUND, "a signal after the end: " + late.text());
}

void signal_kills(Try& t) {
  Box box(t);
  const std::string a = new_token(), b = new_token();
  Running one = box.start(box.probe_command({"linger", a}));
  Running two = box.start(box.probe_command({"linger", b}));
  t.require(one.says("lingers") && two.says("lingers"), "the commands do not start");
  t.expect(box.signal(one.id(), SIGTERM).ok(), "signal by id");
  const Ran ran = one.wait(seconds(10));
  t.expect(ran.ok() && ran.exit.reason == BH_EXIT_STOPPED && ran.exit.signal == SIGTERM,
           "a command that signal() ended: " + ran.told());
  t.expect(!two.done(milliseconds(200)), "the signal reached another command too");
  t.expect(box.signal("", SIGKILL).ok(), "signal to all");
  t.expect(two.wait(seconds(10)).returned, "a signal to all does not reach all");
}

void bad_signal(Try& t) {
  Box box(t);
  Running running = box.start(Command{{"/bin/sh", "-c", "echo runs; read line"}, {}, true});
  t.require(running.says("runs"), "the command does not start");
  for (const int number : {-1, 0, 65, 1000}) {
    const Answer answer = box.signal(running.id(), number);
    t.expect(answer.returned && answer.status != BH_OK,
             "signal " + std::to_string(number) + " is taken");
  }
  running.call().end_of_input();
  t.expect(running.wait(seconds(20)).returned, "the command does not end");
}

}  // namespace

void add_stops(Suite& s) {
  s.add("stops.cancel", "a cancelled command is dead and told within 2 s; the sandbox goes on",
        cancel);
  s.add("stops.deadline", "a deadline ends it in the same way", deadline);
  s.add("stops.stopped", "a process that stopped itself is no way out", cancel_stopped);
  s.add("stops.flood", "cancel is heard amid a flood of output", cancel_flood);
  s.add("stops.reader", "a reader that says stop ends the command", reader_stops);
  s.add("stops.early", "cancel is heard while the command starts", early_cancel);
  s.add("stops.signal", "signal reaches the command, and nobody after its end", signalled);
  s.add("stops.signal_by_id", "a signal goes to one command, or to all", signal_kills);
  s.add("stops.bad_signal", "numbers that are no signals are refused", bad_signal);
}

}  // namespace bulkhead::sdk::contract
