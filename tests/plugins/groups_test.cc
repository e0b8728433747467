// Control groups serve one command after the other: what one used and was allowed is not the next one's.
#include "setting.h"
#include "support/groups.h"

using namespace bh_test;

namespace {

bool has_groups(const Setting& s) {
  return rule_status(s.backend.report, "limits.memory_bytes") == "enforced";
}

constexpr char kLimits[] = R"(,"limits":{"memory_bytes":134217728,"pids":50})";
// Holds about as many bytes at once: tail keeps a line that does not end.
std::string hold(int bytes) { return "head -c " + std::to_string(bytes) + " /dev/zero | tail > /dev/null"; }

}  // namespace

TEST_CASE("what a command used is its own, whatever ran before it") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider, kLimits);
  if (!has_groups(s)) BH_SKIP(provider + ": no control groups can be made here");
  for (int i = 0; i < 3; ++i) {
    const Ran big =
        s.backend.sh("s1", hold(60000000) + " && i=0 && while [ $i -lt 200000 ]; do i=$((i+1)); done");
    CHECK(big.exit.exit_code == 0);
    CHECK(big.exit.peak_bytes > 50000000);
    CHECK(big.exit.cpu_ns > 100000000);
    const Ran small = s.backend.sh("s1", "exit 3");
    CHECK(small.exit.exit_code == 3);
    CHECK(small.exit.peak_bytes >= 0);
    CHECK(small.exit.peak_bytes < 20000000);
    CHECK(small.exit.cpu_ns < big.exit.cpu_ns / 2);
  }
}

TEST_CASE("a limit of one command is not the next one's, and the sandbox's holds for each") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Setting s(provider, kLimits);
  if (!has_groups(s)) BH_SKIP(provider + ": no control groups can be made here");
  for (int i = 0; i < 3; ++i) {
    CHECK(s.backend.sh("s1", hold(60000000), R"({"limits":{"memory_bytes":33554432}})").exit.reason ==
          BH_EXIT_MEMORY);
    const Ran free = s.backend.sh("s1", hold(60000000));
    CHECK(free.exit.reason == BH_EXIT_CODE);
    CHECK(free.exit.exit_code == 0);
    CHECK(free.result.find("memory_kills") == std::string::npos);
    CHECK(s.backend.sh("s1", hold(200000000)).exit.reason == BH_EXIT_MEMORY);
  }
}

TEST_CASE("groups of commands that are over are few, and go with the sandbox") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  Folder folder;
  Backend backend(provider);
  const std::string profile = R"({"workspace":{"source":)" + quote(folder.make("work")) + "}" + kLimits + "}";
  REQUIRE(backend.create("s1", profile) == BH_OK);
  if (rule_status(backend.report, "limits.memory_bytes") != "enforced") {
    CHECK(backend.destroy("s1") == BH_OK);
    BH_SKIP(provider + ": no control groups can be made here");
  }
  for (int i = 0; i < 40; ++i) {
    const Ran ran = backend.sh("s1", i % 5 == 4 ? "sleep 60 & exit 0" : "true");
    CHECK(ran.exit.reason == BH_EXIT_CODE);
  }
  // What one command leaves serves the next. (On a busy machine a process may be seen to end late.)
  bool served = false;
  for (int i = 0; i < 20 && !served; ++i) {
    const auto left = groups_of(backend.state());
    CHECK(backend.sh("s1", "true").exit.reason == BH_EXIT_CODE);
    served = !left.empty() && groups_of(backend.state()) == left;
  }
  CHECK(served);
  // A sandbox's own in each of five hierarchies, and one command's.
  CHECK(count_groups(backend.state()) <= 10);
  CHECK(backend.destroy("s1") == BH_OK);
  CHECK(count_groups(backend.state()) == 0);
}
