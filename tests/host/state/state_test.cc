#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "state/data_root.h"
#include "state/sandbox_records.h"
#include "support/catch.h"

namespace fs = std::filesystem;

namespace {

// A folder below /tmp that goes with the test.
struct Place {
  Place() {
    char name[] = "/tmp/bh-state-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Place() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  std::string path;
};

unsigned mode_of(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 ? st.st_mode & 07777u : 0;
}

bh::SandboxRecord sample(const std::string& id, const std::string& key = {}) {
  bh::SandboxRecord r;
  r.id = id;
  r.persona = "p";
  r.backend = "fake";
  r.default_key = key;
  r.state = "running";
  r.created_ms = 1'700'000'000'123;
  r.profile = {{"root", {{"view", "host"}}}, {"limits", {{"cpu", 0.5}}}};
  r.report = {{"rules", bh::json::array()}};
  return r;
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

TEST_CASE("ids of sandboxes") {
  for (const char* good : {"a", "0", "s-0123", "-"}) CHECK(bh::valid_sandbox_id(good));
  CHECK(bh::valid_sandbox_id(std::string(63, 'a')));
  CHECK_FALSE(bh::valid_sandbox_id(std::string(64, 'a')));
  for (const char* bad : {"", "A", "a b", "a/b", "..", ".", "a.json", "\xc3\xa4", "a_b"}) {
    CHECK_FALSE(bh::valid_sandbox_id(bad));
  }
  CHECK_FALSE(bh::valid_sandbox_id(std::string_view("a\0b", 3)));
}

TEST_CASE("a record comes back as it went, and goes") {
  Place place;
  auto root = bh::DataRoot::open(place.path + "/d").value();
  bh::SandboxRecords records(root);
  auto put = sample("d-1", "key1");
  REQUIRE(records.put(put));
  REQUIRE(records.put(sample("s-2")));
  auto got = records.get("d-1");
  REQUIRE(got);
  CHECK(got->persona == put.persona);
  CHECK(got->backend == put.backend);
  CHECK(got->default_key == put.default_key);
  CHECK(got->state == put.state);
  CHECK(got->created_ms == put.created_ms);
  CHECK(bh::json::print(got->profile) == bh::json::print(put.profile));
  CHECK(bh::json::print(got->report) == bh::json::print(put.report));
  CHECK(records.default_of("key1") == "d-1");
  CHECK(records.default_of("key2").empty());
  CHECK(mode_of(place.path + "/d/state/sandboxes/d-1.json") == 0600);
  CHECK(records.all()->size() == 2);
  REQUIRE(records.remove(*got));
  CHECK(records.get("d-1").error().code == BH_NOT_FOUND);
  CHECK(records.default_of("key1").empty());
  CHECK(records.remove(*got));  // again
  CHECK(records.all()->size() == 1);
}

TEST_CASE("removing an old record leaves the default that took its place") {
  Place place;
  auto root = bh::DataRoot::open(place.path + "/d").value();
  bh::SandboxRecords records(root);
  auto old = sample("d-1", "key");
  REQUIRE(records.put(old));
  REQUIRE(records.put(sample("d-2", "key")));
  REQUIRE(records.remove(old));
  CHECK(records.default_of("key") == "d-2");
}

TEST_CASE("bad ids and bad records") {
  Place place;
  auto root = bh::DataRoot::open(place.path + "/d").value();
  bh::SandboxRecords records(root);
  for (const char* bad : {"", "../x", "a/b", "A"}) {
    auto got = records.get(bad);
    REQUIRE_FALSE(got);
    CHECK(got.error().code == BH_NOT_FOUND);
    CHECK(got.error().details.find("sandbox_not_found") != std::string::npos);
  }
  REQUIRE(records.put(sample("s-good")));
  const std::string folder = place.path + "/d/state/sandboxes/";
  const std::pair<const char*, const char*> kBad[] = {
      {"s-1", ""}, {"s-2", "{"}, {"s-3", "[]"}, {"s-4", "{}"}, {"s-5", R"({"version":2})"}};
  for (const auto& [id, text] : kBad) {
    INFO(text);
    std::ofstream(folder + id + ".json") << text;
    auto got = records.get(id);
    REQUIRE_FALSE(got);
    CHECK(got.error().code == BH_DATA_LOSS);
  }
  std::ofstream(folder + "UPPER.json") << "{}";
  std::ofstream(folder + ".tmp.json") << "{}";
  auto all = records.all();
  REQUIRE(all);  // one bad record does not hide the others
  CHECK(all->size() == 1);
  fs::create_directories(place.path + "/d/state/defaults");
  std::ofstream(place.path + "/d/state/defaults/key") << "../../etc";
  CHECK(records.default_of("key").empty());
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
