// The walls around the program that unpacks, tried from the inside; without them the same succeeds.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <sstream>

#include "imports.h"

using namespace bh_test;

namespace {

std::map<std::string, std::string> tried(const char* how, const Place& place) {
  std::filesystem::create_directories(place.path + "/target");
  std::ofstream(place.path + "/target/inside") << "1";
  std::ofstream(place.path + "/outside") << "1";
  std::filesystem::remove(place.path + "/target/made");
  std::map<std::string, std::string> out;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return out;
  const std::string outside = place.path + "/outside";
  const pid_t child = ::fork();
  if (child == 0) {
    const int source = ::open("/dev/null", O_RDONLY);
    const int target = ::open((place.path + "/target").c_str(), O_RDONLY | O_DIRECTORY);
    ::dup2(source, 0);
    ::dup2(ends[1], 1);
    ::dup2(target, 3);
    ::fcntl(3, F_SETFD, 0);
    ::execl(BH_BINARY_DIR "/tests/bulkhead-image-walls", "walls", how, outside.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  (void)::waitpid(child, nullptr, 0);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    out[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
  }
  return out;
}

}  // namespace

TEST_CASE("behind its walls the worker reaches its target, and nothing else") {
  Place place;
  const auto free = tried("free", place);
  auto behind = tried("behind", place);
  REQUIRE(free.size() > 10);
  REQUIRE(behind.size() > 10);
  for (const char* own : {"read_inside", "make_inside"}) {
    INFO(own);
    CHECK(free.at(own) == "done");
    CHECK(behind.at(own) == "done");
  }
  for (const char* what : {"socket", "unix_socket", "device", "setuid", "signal", "fork"}) {
    INFO(what);
    CHECK(free.at(what) == "done");
    CHECK(behind.at(what) != "done");
  }
  // It ended as /bin/true there, and went on here.
  CHECK(free.count("exec") == 0);
  CHECK(behind.count("exec") == 1);
  // By Landlock, and by another root where this one could change it.
  if (behind["landlock"] == "0" && ::geteuid() != 0) BH_SKIP("this kernel has no Landlock");
  for (const char* what : {"read_outside", "write_outside", "up"}) {
    INFO(what);
    CHECK(free.at(what) == "done");
    CHECK(behind.at(what) != "done");
  }
}
