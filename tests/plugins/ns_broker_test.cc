// The ns backend's broker in need: without descriptors, and with helpers that somebody has stopped.
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "setting.h"

using namespace bh_test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

std::vector<int> broker_children(int parent) {
  std::vector<int> out;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const int one = std::atoi(entry.path().filename().c_str());
    const std::string stat = one > 0 ? read(entry.path() / "stat") : std::string();
    const size_t at = stat.rfind(')');
    int above = 0;
    if (at != std::string::npos) (void)std::sscanf(stat.c_str() + at + 1, " %*c %d", &above);
    if (above == parent) out.push_back(one);
  }
  return out;
}
// The one broker that this process has.
int broker() {
  int found = 0;
  for (const int child : broker_children(::getpid())) {
    if (read("/proc/" + std::to_string(child) + "/comm").rfind("bulkhead-ns-bro", 0) == 0) found = child;
  }
  return found;
}

}  // namespace

TEST_CASE("ns: a broker without descriptors for one more sandbox refuses it, and holds the others") {
  BH_NEEDS("ns");
  Setting s("ns");
  REQUIRE(s.backend.sh("s1", "echo kept > /dev/shm/kept").exit.exit_code == 0);
  const int pid = broker();
  REQUIRE(pid > 0);
  const rlimit few{100, 100};
  REQUIRE(::prlimit(pid, RLIMIT_NOFILE, &few, nullptr) == 0);
  const std::string profile = R"({"workspace":{"source":)" + quote(s.work) + "}}";
  std::vector<std::string> made;
  bh_status refused = BH_OK;
  for (int i = 0; i < 40 && refused == BH_OK; ++i) {
    const std::string id = "many" + std::to_string(i);
    refused = s.backend.create(id, profile);
    made.push_back(id);
  }
  INFO(s.backend.message << s.backend.details);
  CHECK(refused == BH_RESOURCE_EXHAUSTED);
  CHECK(made.size() > 2);
  CHECK(broker() == pid);
  for (const auto& id : made) CHECK(s.backend.destroy(id) == BH_OK);
  // With room again all is as it was.
  CHECK(s.backend.create("again", profile) == BH_OK);
  CHECK(s.backend.sh("again", "echo on").out == "on\n");
  CHECK(s.backend.destroy("again") == BH_OK);
  CHECK(s.backend.sh("s1", "cat /dev/shm/kept").out == "kept\n");
}

TEST_CASE("ns: a sandbox ends also when what waits in it was stopped from the outside") {
  BH_NEEDS("ns");
  Setting s("ns");
  const int pid = broker();
  for (int i = 0; i < 2; ++i) CHECK(s.backend.sh("s1", "true").exit.exit_code == 0);
  std::vector<int> joiners;
  for (int i = 0; i < 400 && joiners.size() != 1; ++i) {
    std::this_thread::sleep_for(5ms);
    joiners = broker_children(pid);
  }
  REQUIRE(joiners.size() == 1);
  REQUIRE(::kill(joiners[0], SIGSTOP) == 0);
  CHECK(s.backend.destroy("s1") == BH_OK);
  CHECK(broker_children(pid).empty());
}
