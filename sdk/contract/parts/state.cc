// The small tables of isolation_state.h: terminals, pause, ports, update.
#include <bulkhead/isolation_state.h>
#include <fcntl.h>
#include <unistd.h>

#include <thread>

#include "../core/box.h"
#include "../core/extension.h"
#include "../core/rules.h"
#include "../core/suite.h"
#include "../core/traces.h"

namespace bulkhead::sdk::contract {

namespace {

void pty(Try& t) {
  const auto table = extension<bh_isolation_pty>(t, BH_ISOLATION_PTY);
  t.require(t.backend.plugin().exec.lists("tty"),
            "the table is offered and exec_schema lists no tty");
  Box box(t);
  Command command{
      {"/bin/sh", "-c", "test -t 0 && test -t 1 && echo terminal; stty size; read line; stty size"},
      {{"tty", json::object({{"rows", 40}, {"cols", 100}})}},
      true};
  Running running = box.start(command);
  t.require(running.says("40 100"),
            "a terminal of 40 rows and 100 columns: " + running.call().kept(BH_STREAM_STDOUT));
  t.expect(running.says("terminal"), "descriptors 0 and 1 are no terminal");
  auto resize = [&](const std::string& id) {
    return t.backend.call([=, f = given(table.resize, "resize"), sandbox = box.handle()](
                              bh_call* c) { return f(sandbox, c, id.data(), id.size(), 50, 120); });
  };
  const Answer answer = offered(resize(running.id()), "resize");
  if (!answer.ok() && running.done(milliseconds(0))) {
    Try::fail("the command ended before its input: " + running.wait().told());
  }
  t.expect(answer.ok(), "resize: " + answer.text());
  running.call().feed("\n");
  t.expect(running.says("50 120"), "the new size is not seen inside");
  running.call().end_of_input();
  (void)running.wait(seconds(10));
  t.expect(resize(running.id()).status == BH_NOT_FOUND, "resize after the end is not BH_NOT_FOUND");
}

void pause(Try& t) {
  const auto table = extension<bh_isolation_pause>(t, BH_ISOLATION_PAUSE);
  Box box(t);
  auto ask = [&](auto f) {
    return t.backend.call([=, sandbox = box.handle()](bh_call* c) { return f(sandbox, c); });
  };
  const auto stop = given(table.pause, "pause"), go = given(table.resume, "resume");
  Running running =
      box.start(Command{{"/bin/sh", "-c", "i=0; while :; do echo tick; sleep 0.02; done"}});
  t.require(running.says("tick"), "the command does not start");
  const Answer paused = offered(ask(stop), "pause");
  t.require(paused.ok(), "pause: " + paused.text());
  t.expect(ask(stop).ok(), "pause of what is paused");
  std::this_thread::sleep_for(milliseconds(200));
  const uint64_t before = running.call().bytes(BH_STREAM_STDOUT);
  std::this_thread::sleep_for(milliseconds(300));
  t.equal("bytes that a paused command wrote", running.call().bytes(BH_STREAM_STDOUT) - before,
          uint64_t{0});
  const Ran refused = box.sh("true");
  t.expect(refused.returned && refused.status == BH_FAILED_PRECONDITION,
           "a command on a paused sandbox: " + refused.told());
  t.expect(ask(go).ok() && ask(go).ok(), "resume, twice");
  std::this_thread::sleep_for(milliseconds(300));
  t.expect(running.call().bytes(BH_STREAM_STDOUT) > before, "it does not go on after resume");
  t.expect(ask(stop).ok(), "pause again");
  t.expect(box.destroy().ok(), "destroy of a paused one");
  t.expect(running.wait(seconds(10)).returned, "its command goes on after destroy");
}

void ports(Try& t) {
  const auto table = extension<bh_isolation_ports>(t, BH_ISOLATION_PORTS);
  Box box(t);
  struct Out {
    bh_fd fd = -1;
  };
  auto dial = [&](uint32_t port, const std::shared_ptr<Out>& out) {
    return offered(t.backend.call([=, f = given(table.dial, "dial"), sandbox = box.handle()](
                                      bh_call* c) { return f(sandbox, c, port, &out->fd); }),
                   "dial");
  };
  Running server = box.start(box.probe_command({"serve", "47321"}));
  t.require(server.says("serves"),
            "a server inside does not start: " + server.call().kept(BH_STREAM_STDOUT));
  auto out = std::make_shared<Out>();
  const Answer answer = dial(47321, out);
  t.require(answer.ok(), "dial: " + answer.text());
  const int fd = static_cast<int>(out->fd);
  t.expect((::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0, "the socket is not close-on-exec");
  char text[8] = "";
  t.expect(::read(fd, text, 4) == 4 && std::string(text, 4) == "pong",
           "the server's word does not arrive");
  ::close(fd);
  const Answer nobody = dial(47322, std::make_shared<Out>());
  t.expect(nobody.returned && nobody.status == BH_UNAVAILABLE,
           "a port that nobody serves: " + nobody.text());
  for (const uint32_t port : {0u, 70000u}) {
    t.expect(!dial(port, std::make_shared<Out>()).ok(),
             "port " + std::to_string(port) + " is dialled");
  }
  server.call().stop(BH_CANCELLED);
  (void)server.wait(kStopped);
}

void update(Try& t) {
  const auto table = extension<bh_isolation_update>(t, BH_ISOLATION_UPDATE);
  needs_key(t, "env.set");
  Folder folder(t.backend.scratch());
  json::object profile = base_profile(folder.make("work"));
  Box box(t, profile);
  auto change = [&](const json::object& to) {
    return offered(t.backend.call([=, f = given(table.update, "update"), sandbox = box.handle(),
                                   text = json::print(to)](bh_call* c) {
      return f(sandbox, c, text.data(), text.size());
    }),
                   "update");
  };
  profile["env"] = json::object({{"set", json::object({{"ADDED", "later"}})}});
  const Answer answer = change(profile);
  if (answer.status == BH_FAILED_PRECONDITION) {
    t.note("refused: " + answer.text());
    return;
  }
  t.require(answer.ok(), "update: " + answer.text());
  std::string wrong;
  (void)Report::parse(answer.said.result, wrong);
  t.expect(wrong.empty(), "update: " + wrong);
  t.equal("the new variable", box.sh("printf %s \"$ADDED\"").out, "later");
  profile["required"] = json::array({"contract.no-such-rule"});
  profile["env"] = json::object({{"set", json::object({{"ADDED", "never"}})}});
  t.expect(!change(profile).ok(), "a required rule that nobody knows is passed over");
  t.equal("the variable after a refused update", box.sh("printf %s \"$ADDED\"").out, "later");
}

}  // namespace

void add_state(Suite& s) {
  s.add("state.pty", "a terminal has its size, and takes a new one", pty);
  s.add("state.pause", "what is paused stands still, and goes on", pause);
  s.add("state.ports", "a server inside is reached by its port", ports);
  s.add("state.update", "a new profile holds as a whole or not at all", update);
}

}  // namespace bulkhead::sdk::contract
