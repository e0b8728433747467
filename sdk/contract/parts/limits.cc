// Each limit: what stays below passes, what goes above meets it, and the end has the right reason.
#include "../core/box.h"
#include "../core/rules.h"
#include "../core/suite.h"
#include "../core/traces.h"

namespace bulkhead::sdk::contract {

namespace {

json::object with_limit(const char* key, json::value value) {
  json::object profile;
  profile["limits"] = json::object({{key, std::move(value)}});
  return profile;
}
std::string rule(const char* key) { return std::string("limits.") + key; }

void memory(Try& t) {
  needs_key(t, "limits.memory_bytes");
  constexpr int64_t kLimit = 64 << 20;
  const std::string much = std::to_string(3 * kLimit);
  {
    Box free(t);
    control(t, free.probe({"memory", much}).exited(0),
            "without the limit that much is not to be had");
  }
  Box box(t, with_limit("memory_bytes", kLimit));
  if (!promised(t, box.report(), rule("memory_bytes"))) return;
  t.expect(box.probe({"memory", std::to_string(kLimit / 4)}).exited(0),
           "a quarter of the limit is not to be had");
  const Ran ran = box.probe({"memory", much});
  t.expect(ran.ok() && !ran.exited(0), "three times the limit was held: " + ran.told());
  t.expect(ran.exit.reason != BH_EXIT_SIGNAL,
           "a kill for memory is told as a mere signal: " + ran.told());
  t.expect(box.sh("echo on").out == "on\n", "the sandbox does not go on after that");
}

void pids(Try& t) {
  needs_key(t, "limits.pids");
  {
    Box free(t);
    control(t, std::atoi(free.probe({"forks", "120"}).out.c_str()) == 120,
            "without the limit there cannot be that many either");
  }
  Box box(t, with_limit("pids", 40));
  if (!promised(t, box.report(), rule("pids"))) return;
  const int made = std::atoi(box.probe({"forks", "120"}).out.c_str());
  t.expect(made >= 20 && made < 41,
           "with a limit of 40 there were " + std::to_string(made) + " processes at once");
}

void bomb(Try& t) {
  needs_key(t, "limits.pids");
  Box box(t, with_limit("pids", 50));
  if (!promised(t, box.report(), rule("pids"))) return;
  const std::string token = new_token();
  Running running = box.start(box.probe_command({"bomb", token}));
  t.expect(appears(token, seconds(5)) > 0, "the bomb does not start");
  (void)running.done(milliseconds(500));
  running.call().stop(BH_CANCELLED);
  t.require(running.wait(kStopped).returned, "a fork bomb outlives its cancel");
  t.expect(all_gone(token, seconds(2)), "processes of a fork bomb are left");
  t.expect(box.sh("echo on").out == "on\n", "the sandbox does not go on after that");
}

void cpu(Try& t) {
  needs_key(t, "limits.cpu");
  int free_use = 0;
  {
    Box free(t);
    free_use = std::atoi(free.probe({"burn", "800", "2"}).out.c_str());
  }
  Box box(t, with_limit("cpu", 0.2));
  if (!promised(t, box.report(), rule("cpu"))) return;
  if (free_use < 500) Try::skip("this machine is too busy to tell");
  const int use = std::atoi(box.probe({"burn", "1500", "2"}).out.c_str());
  t.expect(use > 0 && use < 400,
           "with 0.2 of a core it used " + std::to_string(use) + " thousandths");
}

void disk(Try& t) {
  needs_key(t, "limits.disk_bytes");
  needs_key(t, "workspace");
  {
    Box free(t);
    control(t, free.probe({"fill", free.workspace(), "40"}).out == "40\n",
            "without the limit 40 MiB do not fit");
  }
  Box box(t, with_limit("disk_bytes", 16 << 20));
  if (!promised(t, box.report(), rule("disk_bytes"))) return;
  const int written = std::atoi(box.probe({"fill", box.workspace(), "40"}).out.c_str());
  t.expect(written <= 17, "with a limit of 16 MiB it holds " + std::to_string(written));
}

void wall(Try& t) {
  needs_key(t, "limits.wall_ms");
  Box box(t, with_limit("wall_ms", 1500));
  if (!promised(t, box.report(), rule("wall_ms"))) return;
  t.expect(box.sh("sleep 0.1; exit 4").exited(4), "a command within its time is disturbed");
  const std::string token = new_token();
  Running running = box.start(box.probe_command({"linger", token, "deaf"}));
  const Ran ran = running.wait(seconds(8));
  t.require(ran.returned, "a command over its time goes on");
  t.expect(ran.ok() && ran.exit.reason == BH_EXIT_TIME, "its end is told as " + ran.told());
  t.expect(ran.seconds >= 1.4,
           "it ended before its time, after " + std::to_string(ran.seconds) + " s");
  t.expect(all_gone(token, seconds(1)), "its process is still there");
}

void output(Try& t) {
  needs_key(t, "limits.output_bytes");
  Box box(t, with_limit("output_bytes", 100000));
  if (!promised(t, box.report(), rule("output_bytes"))) return;
  const Ran fits = box.sh("head -c 99000 /dev/zero");
  t.expect(fits.exited(0) && fits.out.size() == 99000,
           "what fits is cut: " + std::to_string(fits.out.size()));
  const std::string token = new_token();
  Running running =
      box.start(Command{{"/bin/sh", "-c", "while :; do echo more; echo more >&2; done", token}});
  const Ran ran = running.wait(seconds(10));
  t.require(ran.returned, "a command over its output goes on");
  t.expect(ran.ok() && ran.exit.reason == BH_EXIT_OUTPUT,
           "its end is told as " + ran.told().substr(0, 200));
  t.expect(ran.out.size() + ran.err.size() <= 100000,
           "more than the limit came out: " + std::to_string(ran.out.size() + ran.err.size()));
  t.expect(all_gone(token, seconds(1)), "its process is still there");
}

void open_files(Try& t) {
  needs_key(t, "limits.open_files");
  int free_count = 0;
  {
    Box free(t);
    free_count = std::atoi(free.probe({"open_files"}).out.c_str());
  }
  control(t, free_count > 100, "without the limit there are few descriptors too");
  Box box(t, with_limit("open_files", 64));
  if (!promised(t, box.report(), rule("open_files"))) return;
  const int count = std::atoi(box.probe({"open_files"}).out.c_str());
  t.expect(count > 32 && count < 64,
           "with a limit of 64 it opened " + std::to_string(count) + " more");
}

// The options of one command are as good as the profile's.
void of_one_command(Try& t) {
  const Schema& schema = t.backend.plugin().exec;
  if (!schema.lists("limits.wall_ms") && !schema.lists("limits.output_bytes")) {
    Try::skip("exec_schema lists neither limits.wall_ms nor limits.output_bytes");
  }
  Box box(t);
  if (schema.lists("limits.wall_ms")) {
    const Ran ran = box.start(Command{{"/bin/sh", "-c", "sleep 20"},
                                      {{"limits", json::object({{"wall_ms", 500}})}}})
                        .wait(seconds(8));
    t.expect(ran.ok() && ran.exit.reason == BH_EXIT_TIME, "wall_ms of a command: " + ran.told());
  }
  if (schema.lists("limits.output_bytes")) {
    const Ran ran = box.start(Command{{"/bin/sh", "-c", "while :; do echo more; done"},
                                      {{"limits", json::object({{"output_bytes", 5000}})}}})
                        .wait(seconds(8));
    t.expect(ran.ok() && ran.exit.reason == BH_EXIT_OUTPUT && ran.out.size() <= 5000,
             "output_bytes of a command: " + std::to_string(ran.out.size()) + " bytes");
  }
  t.expect(box.sh("sleep 0.7; echo on").out == "on\n",
           "the limit of one command holds for the next");
}

}  // namespace

void add_limits(Suite& s) {
  s.add("limits.memory_bytes", "memory above the limit is not to be had, and that is told", memory);
  s.add("limits.pids", "there are never more processes than the limit", pids);
  s.add("limits.bomb", "a fork bomb meets its limit and is gone with its command", bomb);
  s.add("limits.cpu", "processor time keeps to its share", cpu);
  s.add("limits.disk_bytes", "files together keep to their limit", disk);
  s.add("limits.wall_ms", "a command over its time ends as that", wall);
  s.add("limits.output_bytes", "a command over its output ends as that, to the byte", output);
  s.add("limits.open_files", "no process opens more than the limit", open_files);
  s.add("limits.command", "limits of one command hold, and for that one alone", of_one_command);
}

}  // namespace bulkhead::sdk::contract
