// Using things up: processes, memory, disk, output, processor, descriptors.
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "row.h"

using namespace bh_test;
using namespace std::chrono_literals;

namespace {

long number(Cell& c, const std::string& order) {
  const std::string name = order.substr(0, order.find(' '));
  const auto found = c.probe(order);
  const auto it = found.find(name);
  return it != found.end() ? std::stol(it->second) : -1;  // it did not come to an answer
}

// Limits for the sandbox, none for the control.
void limit(Cell& c, const std::string& name, const std::string& value) {
  if (!c.free()) c.more_ = R"(,"limits":{")" + name + "\":" + value + "}";
  c.spoken_of_by({"limits." + name});
}

}  // namespace

BH_ROW("P1", "so many processes and no more") {
  row.attack("limited", [](Cell& c) {
    limit(c, "pids", "40");
    return number(c, "forks 60") == 60;
  });
}

BH_ROW("P1", "a fork bomb is gone with its command") {
  Cell cell(row.backend(), R"(,"limits":{"pids":40,"wall_ms":2500,"memory_bytes":268435456})");
  REQUIRE(cell.make() == BH_OK);
  if (rule_status(cell.report, "limits.pids") == "unsupported") {
    row.is("not enforced (told)");
    row.note("limits.pids is unsupported: " + rule_reason(cell.report, "limits.pids"));
    return row.no_control("a bomb without a limit would take the machine");
  }
  const std::string mark = "bomb" + fresh_mark();
  const Ran ran = cell.sh("cp probe " + mark + " && exec ./" + mark + " bomb");
  CHECK(ran.exit.reason == BH_EXIT_TIME);
  CHECK(gone(mark));
  CHECK(cell.sh("echo on").out == "on\n");
  row.is("ended");
}

BH_ROW("P2", "memory, however it is had, meets its limit") {
  for (const char* order : {"eat 300", "shared 300"}) {
    CAPTURE(order);
    row.attack(
        "limited",
        [&](Cell& c) {
          limit(c, "memory_bytes", "134217728");
          return number(c, order) == 300;
        },
        [&](Cell& c) {
          if (rule_status(c.report, "limits.memory_bytes") != "enforced") return;
          CHECK(c.sh(std::string("exec ./probe ") + order).exit.reason == BH_EXIT_MEMORY);
          CHECK(c.sh("echo on").out == "on\n");
        });
  }
  row.attack("limited", [&](Cell& c) {
    limit(c, "memory_bytes", "67108864");
    return c.sh("head -c 96M /dev/zero > /dev/shm/bulkhead-full; r=$?; rm -f "
                "/dev/shm/bulkhead-full; exit $r")
               .exit.exit_code == 0;
  });
}

BH_ROW("P3", "a file, and all files together, meet the limit of the disk") {
  row.attack("limited", [](Cell& c) {
    limit(c, "disk_bytes", "2097152");
    return number(c, "fill . 1 4096") == 4096;
  });
  row.attack("limited", [](Cell& c) {
    limit(c, "disk_bytes", "2097152");
    return number(c, "fill . 8 1024") == 8 * 1024;
  });
  row.attack("limited", [](Cell& c) {
    limit(c, "disk_bytes", "2097152");
    return c.sh("truncate -s 1T hole; r=$?; rm -f hole; exit $r").exit.exit_code == 0;
  });
}

BH_ROW("A25", "what a sandbox puts into /tmp and HOME counts as well") {
  for (const char* place : {"${TMPDIR:-/tmp}", "\"$HOME\""}) {
    CAPTURE(place);
    row.attack("limited", [&](Cell& c) {
      limit(c, "disk_bytes", "2097152");
      const Ran ran = c.sh(std::string("./probe fill ") + place + " 8 1024");
      return ran.out == "fill 8192\n";
    });
  }
}

BH_ROW("P8", "a flood of output ends at its limit, and memory does not grow with it") {
  {
    Cell free("process");
    CHECK(free.sh("head -c 10000000 /dev/zero").out.size() == 10000000);
  }
  for (const char* script : {"yes", "cat /dev/zero", "head -c 100000000 /dev/zero | tr '\\0' x"}) {
    CAPTURE(script);
    Cell cell(row.backend(), R"(,"limits":{"output_bytes":1000000})");
    const Ran ran = cell.sh(script);
    CHECK(ran.exit.reason == BH_EXIT_OUTPUT);
    CHECK(ran.out.size() <= 1000000);
    CHECK(ran.out.size() > 900000);
    CHECK(rule_status(cell.report, "limits.output_bytes") == "enforced");
  }
  row.is("limited");
}

BH_ROW("P9", "bytes that are no text pass as they are") {
  const auto script =
      R"(printf '\377\376\000\033]52;c;aGk=\007\033]8;;x\033\\\033[2J\r\n\302'; printf '\200' >&2)";
  Cell free("process"), cell(row.backend());
  const Ran expected = free.sh(script), seen = cell.sh(script);
  CHECK(seen.out == expected.out);
  CHECK(seen.err == expected.err);
  CHECK(seen.out.size() == 30);
  row.is("told");
}

BH_ROW("P26", "the processor is shared as the limit says") {
  // In so many milliseconds of the clock; a busy machine gives the control less, never more.
  const auto had = [](Cell& c) { return number(c, "spin 1000"); };
  Cell cell(row.backend(), R"(,"limits":{"cpu":0.1})");
  REQUIRE(cell.make() == BH_OK);
  const long limited = had(cell);
  long free = 0;
  for (int i = 0; i < 10 && free < 300; ++i) {
    Cell plain("process");
    free = std::max(free, had(plain));
  }
  CHECK(free >= 300);
  row.judge(limited >= 300, "limited", {"limits.cpu"}, cell.report);
}

BH_ROW("P26", "no priority above everybody's") { row.calls_refused({"real_time", "nice_minus"}); }

BH_ROW("P27", "descriptors and pipes meet their limit") {
  row.attack("limited", [](Cell& c) {
    limit(c, "open_files", "64");
    return number(c, "descriptors 200") == 200;
  });
  row.attack("limited", [](Cell& c) {
    limit(c, "open_files", "64");
    return number(c, "pipes 100") > 32 * 1024;
  });
}

BH_ROW("A22", "what the kernel counts per user is not used up for others") {
  {
    // The control, as a user whom nobody is: one process uses up what another of the user needs.
    const std::string seen = in_child([]() -> std::string {
      if (::geteuid() == 0 && ::setresuid(65530, 65530, 65530) != 0) return "setresuid";
      rlimit files{4096, 4096};
      (void)::setrlimit(RLIMIT_NOFILE, &files);
      int had = 0;
      while (had < 2000 && ::inotify_init1(IN_CLOEXEC) >= 0) ++had;
      if (had == 2000) return "no limit";
      return ::inotify_init1(IN_CLOEXEC) < 0 ? "used up" : "";
    });
    if (seen == "no limit") BH_ROW_SKIP("this kernel lets a user have more than 2000 notifiers");
    CHECK(seen == "used up");
  }
  Cell a(row.backend(), R"(,"persona":"a")", "s1"), b(row.backend(), R"(,"persona":"b")", "s2");
  REQUIRE(a.make() == BH_OK);
  REQUIRE(b.make() == BH_OK);
  Command c;
  c.argv = {"./probe", "notifiers", "2000", "hold"};
  long held = 0, other = 0;
  int own = -1;
  c.beside = [&](testing::FakeCall& call) {
    for (int i = 0; i < 200 && call.out().empty(); ++i) std::this_thread::sleep_for(25ms);
    const std::string out = call.out();
    if (out.rfind("notifiers ", 0) == 0) held = std::stol(out.substr(10));
    other = number(b, "notifiers 1");
    own = ::inotify_init1(IN_CLOEXEC);
    call.stop();
  };
  (void)a.backend.run("s1", c);
  CAPTURE(held, other, own);
  CHECK(held > 0);
  row.judge(other != 1 || own < 0, "limited", {"isolation.kernel_quotas", "persona"}, a.report);
  if (own >= 0) ::close(own);
}
