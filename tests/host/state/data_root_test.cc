#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "state/data_root.h"
#include "place.h"
#include "support/catch.h"

namespace fs = std::filesystem;

namespace {

using bh_test::Place;

unsigned mode_of(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 ? st.st_mode & 07777u : 0;
}

}  // namespace

TEST_CASE("the data root is made with its parents, for its owner alone") {
  Place place;
  const std::string path = place.path + "/a/b/data";
  auto root = bh::DataRoot::open(path);
  REQUIRE(root);
  CHECK(mode_of(path) == 0700);
  CHECK(mode_of(place.path + "/a") == 0700);
  auto folder = root->folder("personas/x/home");
  REQUIRE(folder);
  CHECK(*folder == path + "/personas/x/home");
  CHECK(mode_of(*folder) == 0700);
  CHECK(mode_of(path + "/personas") == 0700);
  CHECK(root->folder("personas/x/home"));  // again
}

TEST_CASE("a data root that others may write to is refused, with the remedy") {
  for (mode_t mode : {0770u, 0707u, 0777u, 01777u}) {
    INFO(mode);
    Place place;
    REQUIRE(::chmod(place.path.c_str(), mode) == 0);
    auto root = bh::DataRoot::open(place.path);
    REQUIRE_FALSE(root);
    CHECK(root.error().code == BH_FAILED_PRECONDITION);
    CHECK(root.error().details.find("data_root") != std::string::npos);
    CHECK(root.error().message.find("chmod") != std::string::npos);
  }
  Place place;
  REQUIRE(::chmod(place.path.c_str(), 0755) == 0);
  CHECK(bh::DataRoot::open(place.path));
}

TEST_CASE("what cannot be a data root names the key") {
  Place place;
  std::ofstream(place.path + "/file") << "x";
  for (const std::string& path : {place.path + "/file", place.path + "/file/below",
                                 std::string("/proc/bh-data-root")}) {
    INFO(path);
    auto root = bh::DataRoot::open(path);
    REQUIRE_FALSE(root);
    CHECK(root.error().details.find("/data_root") != std::string::npos);
  }
}

TEST_CASE("the path of a data root has no links, folders do not leave it") {
  Place place;
  fs::create_directory(place.path + "/real");
  fs::create_symlink(place.path + "/real", place.path + "/link");
  auto root = bh::DataRoot::open(place.path + "/link");
  REQUIRE(root);
  CHECK(root->path() == place.path + "/real");
  CHECK_FALSE(root->folder("../outside"));
  fs::create_symlink("/tmp", place.path + "/real/away");
  CHECK_FALSE(root->folder("away/x"));
}

TEST_CASE("a lock on a name holds across processes and goes with its holder") {
  Place place;
  auto root = bh::DataRoot::open(place.path + "/d").value();
  int ready[2], go[2];
  REQUIRE(::pipe(ready) == 0);
  REQUIRE(::pipe(go) == 0);
  pid_t child = ::fork();
  if (child == 0) {
    auto own = bh::DataRoot::open(place.path + "/d");
    auto lock = bh::NameLock::take(*own, "name");
    char c = lock ? 'y' : 'n';
    if (::write(ready[1], &c, 1) != 1 || ::read(go[0], &c, 1) != 1) ::_exit(2);
    ::_exit(0);  // without letting go
  }
  char c = 0;
  REQUIRE(::read(ready[0], &c, 1) == 1);
  CHECK(c == 'y');
  CHECK(bh::NameLock::take(root, "other"));
  std::atomic<bool> taken{false};
  std::thread waiter([&] {
    auto lock = bh::NameLock::take(root, "name");
    taken = lock.has_value();
  });
  ::usleep(100'000);
  CHECK_FALSE(taken.load());
  REQUIRE(::write(go[1], "x", 1) == 1);
  waiter.join();
  CHECK(taken.load());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  for (int fd : {ready[0], ready[1], go[0], go[1]}) ::close(fd);
}
