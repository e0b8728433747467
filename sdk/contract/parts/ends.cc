// Whatever a command leaves behind: told, ended, gone.
#include "../core/box.h"
#include "../core/suite.h"
#include "../core/traces.h"

namespace bulkhead::sdk::contract {

namespace {

void daemon_ends(Try& t) {
  Box box(t);
  const std::string token = new_token();
  const Ran ran = box.probe({"daemon", token});
  t.require(ran.exited(0), ran.told());
  t.expect(ran.seconds < 10, "a daemon without the pipe holds the command up");
  // A backend whose commands share a sandbox's processes may keep it until destroy.
  const bool now = all_gone(token, milliseconds(500));
  t.expect(!now || (ran.exit.flags & BH_EXITED_LEFTOVERS) != 0,
           "what it left was killed and not told (BH_EXITED_LEFTOVERS)");
  if (!now) t.note("background processes stay until destroy");
  t.expect(box.destroy().ok(), "destroy beside a daemon");
  t.expect(all_gone(token, seconds(1)), "a daemon of its own session survives destroy");
}

void held_pipe(Try& t) {
  Box box(t);
  const std::string token = new_token();
  Running running = box.start(box.probe_command({"daemon", token, "held"}));
  const Ran ran = running.wait(seconds(10));
  t.require(ran.returned, "exec waits for a pipe that a daemon holds");
  t.expect(ran.exited(0), ran.told());
  t.expect((ran.exit.flags & (BH_EXITED_OUTPUT_OPEN | BH_EXITED_LEFTOVERS)) != 0,
           "neither output_open nor leftovers is told");
  t.expect(box.destroy().ok() && all_gone(token, seconds(1)), "it survives destroy");
}

void background_child(Try& t) {
  Box box(t);
  const std::string token = new_token();
  const std::string probe = box.probe_command({"hello"}).argv[0];
  const Ran ran = box.sh("\"" + probe + "\" linger " + token + " deaf >/dev/null 2>&1 & echo left");
  t.expect(ran.exited(0) && ran.out == "left\n", ran.told());
  t.expect(box.destroy().ok() && all_gone(token, seconds(1)),
           "a background child that ignores signals survives destroy");
}

void stopped_child(Try& t) {
  Box box(t);
  const std::string token = new_token();
  const std::string probe = box.probe_command({"hello"}).argv[0];
  const Ran ran =
      box.sh("\"" + probe + "\" linger " + token + " >/dev/null 2>&1 & kill -STOP $!; exit 3");
  t.expect(ran.exited(3), ran.told());
  t.expect(box.destroy().ok() && all_gone(token, seconds(1)), "a stopped child survives destroy");
}

void parent_dies_first(Try& t) {
  Box box(t);
  const std::string token = new_token();
  const Ran ran = box.probe({"daemon", token});
  const Ran killed = box.sh("(sleep 0.2; echo late) & kill -KILL $$");
  t.expect(killed.ok() && killed.exit.reason == BH_EXIT_SIGNAL, killed.told());
  t.expect(ran.ok(), ran.told());
  t.expect(box.destroy().ok() && all_gone(token, seconds(1)), "what they left survives");
}

void cancel_takes_all(Try& t) {
  Box box(t);
  const std::string token = new_token();
  const std::string probe = box.probe_command({"hello"}).argv[0];
  Running running = box.start(Command{{"/bin/sh", "-c",
                                       "\"" + probe + "\" daemon " + token + "; \"" + probe +
                                           "\" linger " + token + " deaf & echo set; wait"}});
  t.require(running.says("set"), "the command does not start");
  running.call().stop(BH_CANCELLED);
  t.require(running.wait(kStopped).returned, "exec did not return within 2 s of being stopped");
  t.expect(all_gone(token, seconds(1)),
           "cancel left processes of the command: its daemon, or a child that ignores signals");
}

void sandbox_goes_on(Try& t) {
  Box box(t);
  if (box.workspace().empty()) Try::skip("no workspace in its profile");
  (void)box.sh("echo kept > kept; kill -KILL $$");
  t.equal("a file after its writer was killed", box.sh("cat kept").out, "kept\n");
}

void nothing_left(Try& t) {
  const std::string me = std::to_string(::getpid());
  Box box(t);
  for (int i = 0; i < 10; ++i) {
    const std::string token = new_token();
    (void)box.probe({"daemon", token, i % 2 == 0 ? "held" : ""});
  }
  t.expect(box.destroy().ok(), "destroy");
  t.expect(all_gone("contract-token-" + me, seconds(2)), "processes are left after destroy");
  t.equal("mounts that name it", join(mounts_with(box.id())), "");
  t.equal("control groups that name it", join(groups_with(box.id())), "");
}

}  // namespace

void add_ends(Suite& s) {
  s.add("ends.daemon", "a daemon of its own session is told, and ends", daemon_ends);
  s.add("ends.held_pipe", "a held pipe does not hold exec up, and is told", held_pipe);
  s.add("ends.background", "background children that ignore signals end", background_child);
  s.add("ends.stopped", "stopped children end", stopped_child);
  s.add("ends.killed_parent", "what a killed command left ends", parent_dies_first);
  s.add("ends.cancel", "cancel takes the whole tree", cancel_takes_all);
  s.add("ends.goes_on", "the sandbox outlives its commands", sandbox_goes_on);
  s.add("ends.nothing_left", "no process, mount or group is left after ten daemons", nothing_left);
}

}  // namespace bulkhead::sdk::contract
