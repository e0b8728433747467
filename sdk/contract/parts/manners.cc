// What a plugin owes to the process that it lives in. Last: some of it was watched all the time.
#include <unistd.h>
#include <algorithm>

#include "../core/box.h"
#include "../core/suite.h"
#include "../core/traces.h"

namespace bulkhead::sdk::contract {

namespace {

// Two hundred commands leave the process as ten did.
void many_commands(Try& t) {
  if (t.backend.abandoned()) Try::skip("a call is still in it");
  Box box(t);
  for (int i = 0; i < 10; ++i) (void)box.sh("exit 0");
  const auto before = descriptors();
  for (int i = 0; i < 200; ++i) {
    const Ran ran = box.sh("exit 0");
    t.require(ran.exited(0), "command " + std::to_string(i) + ": " + ran.told());
  }
  const auto after = descriptors();
  std::vector<std::string> more;
  for (const auto& one : after) {
    if (std::find(before.begin(), before.end(), one) == before.end()) more.push_back(one);
  }
  t.expect(after.size() <= before.size() + 4,
           std::to_string(after.size() - before.size()) +
               " descriptors more after 200 commands: " + join(more).substr(0, 300));
  t.equal("children that were not waited for", zombies().size(), size_t{0});
}

void many_sandboxes(Try& t) {
  if (t.backend.abandoned()) Try::skip("a call is still in it");
  for (int i = 0; i < 5; ++i) Box box(t);
  const size_t before = descriptors().size();
  for (int i = 0; i < 40; ++i) {
    Box box(t);
    (void)box.sh("exit 0");
  }
  const size_t after = descriptors().size();
  t.expect(after <= before + 4,
           std::to_string(after - before) + " descriptors more after 40 sandboxes");
}

// A child that knows nothing of the plugin sees none of its descriptors.
void close_on_exec(Try& t) {
  Box box(t);
  Running running = box.start(Command{{"/bin/sh", "-c", "echo runs; read line"}, {}, true});
  t.require(running.says("runs"), "the command does not start");
  std::vector<std::string> open;
  for (const auto& one : descriptors()) {
    const std::string info = read_file("/proc/self/fdinfo/" + one.substr(0, one.find(' ')));
    const size_t at = info.find("flags:");
    if (at == std::string::npos) continue;
    const auto flags = std::strtoull(info.c_str() + at + 6, nullptr, 8);
    if ((flags & 02000000) == 0 && std::atoi(one.c_str()) > 2) open.push_back(one);
  }
  running.call().end_of_input();
  (void)running.wait(seconds(10));
  const auto& known = t.backend.observed.inherited;
  open.erase(std::remove_if(open.begin(), open.end(),
                            [&](const std::string& one) {
                              return std::find(known.begin(), known.end(), one) != known.end();
                            }),
             open.end());
  t.expect(open.empty(), "descriptors without close-on-exec: " + join(open));
}

void process_kept(Try& t) {
  const auto now = process_state();
  const auto& before = t.backend.observed.before;
  std::vector<std::string> changed;
  std::set_symmetric_difference(before.begin(), before.end(), now.begin(), now.end(),
                                std::back_inserter(changed));
  t.expect(changed.empty(), "it changed the process: " + join(changed).substr(0, 500));
}

void silent(Try& t) {
  const auto& written = t.backend.observed.written;
  t.expect(written.empty(), "it wrote to stdout or stderr: " + join(written).substr(0, 500));
}

void calls(Try& t) {
  const auto& misuse = t.backend.observed.misuse;
  t.expect(misuse.empty(), join(misuse).substr(0, 1000));
}

void returned(Try& t) {
  t.expect(!t.backend.abandoned(), "a call did not return although it was stopped");
}

// The provider is closed, and what it leaves is what was there before it.
void closed(Try& t) {
  if (t.backend.abandoned()) Try::skip("a call is still in it");
  const auto first = t.backend.open();
  t.require(first.ok(), "opening it again: " + first.text());
  t.backend.close();
  const size_t before = descriptors().size();
  t.require(t.backend.open().ok(), "opening it again");
  {
    Box box(t);
    (void)box.sh("exit 0");
  }
  t.backend.close();
  t.expect(descriptors().size() <= before + 1,
           std::to_string(descriptors().size() - before) + " descriptors more after close");
  for (int i = 0; i < 100 && !children().empty(); ++i) ::usleep(20000);
  t.equal("children after close", children().size(), size_t{0});
  t.equal("control groups of this owner after close", join(groups_with(t.backend.owner())), "");
  t.require(t.backend.open().ok(), "opening it again");
}

}  // namespace

void add_manners(Suite& s) {
  s.add("manners.commands", "200 commands leak no descriptor and no child", many_commands);
  s.add("manners.sandboxes", "40 sandboxes leak no descriptor", many_sandboxes);
  s.add("manners.close_on_exec", "all its descriptors are close-on-exec", close_on_exec);
  s.add("manners.close", "after close no child, descriptor or group is left", closed);
  s.add("manners.process",
        "signals, mask, cwd, umask, environment, limits and ids are as they were", process_kept);
  s.add("manners.silent", "nothing was written to stdout or stderr", silent);
  s.add("manners.calls", "calls were used as plugin.h says; every error has its word", calls);
  s.add("manners.returned", "every call came back", returned);
}

}  // namespace bulkhead::sdk::contract
