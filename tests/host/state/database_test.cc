#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "place.h"
#include "state/database.h"
#include "state/schema.h"
#include "support/catch.h"

using bh_test::Place;
using bh_test::sample;

namespace {

bool says(const bh::Error& error, const std::string& word) {
  return error.details.find(word) != std::string::npos || error.message.find(word) != std::string::npos;
}

}  // namespace

TEST_CASE("the database is made on first use, for its owner alone") {
  Place place;
  auto root = bh::DataRoot::open(place.path + "/d").value();
  bh::Database db(root);
  CHECK_FALSE(std::filesystem::exists(db.path()));
  auto rows = db.once("SELECT count(*) FROM sandboxes");
  REQUIRE(rows);
  CHECK(rows->front().integer(0) == 0);
  for (const char* suffix : {"", "-wal", "-shm"}) {
    struct stat st {};
    REQUIRE(::stat((db.path() + suffix).c_str(), &st) == 0);
    CHECK((st.st_mode & 07777u) == 0600u);
  }
}

TEST_CASE("what is to be kept is in the database's own file once the last process has closed it") {
  Place place;
  auto root = bh::DataRoot::open(place.path + "/d").value();
  bh::Database db(root);
  // What stands in the file itself, whatever the log beside it holds: what a copy of it alone shows.
  auto in_the_file = [&] {
    auto copy = bh::DataRoot::open(place.path + "/copy").value();
    std::filesystem::create_directories(place.path + "/copy/state");
    std::filesystem::copy_file(db.path(), place.path + "/copy/state/bulkhead.db",
                               std::filesystem::copy_options::overwrite_existing);
    bh::Database alone(copy);
    auto rows = alone.once("SELECT a FROM t ORDER BY a DESC");
    REQUIRE(rows);
    return rows->empty() ? 0 : rows->front().integer(0);
  };
  auto insert = [&](std::int64_t number, bh::Worth worth) {
    auto turn = db.write();
    REQUIRE(turn->run("INSERT INTO t VALUES (?)", {number}));
    REQUIRE(turn->commit(worth));
  };
  REQUIRE(db.once("CREATE TABLE t (a INTEGER) STRICT"));
  insert(1, bh::Worth::kKept);
  db.close();
  CHECK(in_the_file() == 1);

  insert(2, bh::Worth::kPassing);
  db.close();
  CHECK(in_the_file() == 1);
  CHECK(db.once("SELECT max(a) FROM t")->front().integer(0) == 2);
  db.close();

  // The kept one takes along what was left before it.
  insert(3, bh::Worth::kPassing);
  insert(4, bh::Worth::kKept);
  db.close();
  CHECK(in_the_file() == 4);

  // And no number of passing ones is left for ever.
  for (std::int64_t n = 5; n < 100; n++) {
    insert(n, bh::Worth::kPassing);
    db.close();
  }
  CHECK(in_the_file() > 20);
  CHECK(std::filesystem::file_size(db.path() + "-wal") < 70 * 4200);
}

TEST_CASE("a transaction is whole or not at all") {
  Place place;
  auto root = bh::DataRoot::open(place.path + "/d").value();
  bh::Database db(root);
  REQUIRE(db.once("CREATE TABLE t (a INTEGER, b TEXT) STRICT"));
  {
    auto turn = db.write();
    REQUIRE(turn);
    REQUIRE(turn->run("INSERT INTO t VALUES (?, ?)", {std::int64_t{1}, std::string("x\0y", 3)}));
    CHECK(turn->changed() == 1);
  }
  CHECK(db.once("SELECT * FROM t")->empty());
  {
    auto turn = db.write();
    REQUIRE(turn->run("INSERT INTO t VALUES (?, ?)", {std::int64_t{1}, std::string("x\0y", 3)}));
    REQUIRE(turn->run("INSERT INTO t VALUES (?, ?)", {nullptr, nullptr}));
    REQUIRE(turn->commit());
  }
  bh::Database other(root);
  auto rows = other.once("SELECT a, b FROM t ORDER BY a DESC");
  REQUIRE(rows);
  REQUIRE(rows->size() == 2);
  CHECK((*rows)[0].integer(0) == 1);
  CHECK((*rows)[0].text(1) == std::string("x\0y", 3));
  CHECK((*rows)[1].null(0));
  CHECK((*rows)[1].text(1).empty());
  // A statement that fails leaves the connection as it was.
  auto wrong = db.once("INSERT INTO t VALUES ('no number', NULL)");
  REQUIRE_FALSE(wrong);
  CHECK(db.once("SELECT a FROM t")->size() == 2);
}

TEST_CASE("a database of a later version is refused and left as it is") {
  Place place;
  auto root = bh::DataRoot::open(place.path + "/d").value();
  {
    bh::Database db(root);
    REQUIRE(db.once("PRAGMA user_version=999"));
  }
  bh::Database db(root);
  auto rows = db.once("SELECT 1");
  REQUIRE_FALSE(rows);
  CHECK(rows.error().code == BH_FAILED_PRECONDITION);
  CHECK(says(rows.error(), "state_newer"));
  CHECK(says(rows.error(), db.path()));
  CHECK(says(rows.error(), "999"));
  CHECK(says(rows.error(), std::to_string(bh::kSchemaVersion)));
}

TEST_CASE("a damaged database is told with its file and the remedy, never replaced") {
  Place place;
  auto root = bh::DataRoot::open(place.path + "/d").value();
  REQUIRE(root.folder("state"));
  bh::Database db(root);
  std::ofstream(db.path()) << std::string(8192, 'x');
  auto rows = db.once("SELECT 1");
  REQUIRE_FALSE(rows);
  CHECK(rows.error().code == BH_DATA_LOSS);
  CHECK(says(rows.error(), "state_damaged"));
  CHECK(says(rows.error(), db.path()));
  CHECK(says(rows.error(), "move it away"));
  CHECK(std::filesystem::file_size(db.path()) == 8192);
  std::filesystem::remove(db.path());
  CHECK(db.once("SELECT 1"));  // the remedy holds, without a restart
}

TEST_CASE("pages that were overwritten are found when they are read") {
  Place place;
  auto root = bh::DataRoot::open(place.path + "/d").value();
  {
    bh::Database db(root);
    bh::SandboxRecords records(db);
    for (int i = 0; i < 50; i++) REQUIRE(records.put(sample("s-" + std::to_string(i))));
  }
  bh::Database db(root);
  std::fstream file(db.path(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(0, std::ios::end);
  const auto size = static_cast<std::size_t>(file.tellp());
  REQUIRE(size > 8192);
  file.seekp(4096);
  file << std::string(size - 4096, '\xff');
  file.close();
  auto all = bh::SandboxRecords(db).all();
  REQUIRE_FALSE(all);
  CHECK(all.error().code == BH_DATA_LOSS);
  CHECK(says(all.error(), "state_damaged"));
}

TEST_CASE("no room: a typed error, and what was there stays") {
  Place place;
  auto root = bh::DataRoot::open(place.path + "/d").value();
  {
    bh::Database db(root);
    REQUIRE(bh::SandboxRecords(db).put(sample("s-kept")));
  }
  pid_t child = ::fork();
  if (child == 0) {
    // Its files may not grow: what a full disk and a quota come to.
    ::signal(SIGXFSZ, SIG_IGN);
    bh::Database db(root);
    bh::SandboxRecords records(db);
    if (!records.get("s-kept")) ::_exit(2);
    rlimit none{1, 1};
    ::setrlimit(RLIMIT_FSIZE, &none);
    auto put = records.put(sample("s-new"));
    if (put) ::_exit(3);
    if (put.error().code != BH_RESOURCE_EXHAUSTED || !says(put.error(), "state_full")) ::_exit(4);
    ::_exit(records.get("s-kept") ? 0 : 5);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
  bh::Database db(root);
  bh::SandboxRecords records(db);
  CHECK(records.get("s-kept"));
  CHECK(records.get("s-new").error().code == BH_NOT_FOUND);
}

TEST_CASE("in the child of a fork it says so and touches nothing") {
  Place place;
  auto root = bh::DataRoot::open(place.path + "/d").value();
  bh::Database db(root);
  REQUIRE(bh::SandboxRecords(db).put(sample("s-1")));
  pid_t child = ::fork();
  if (child == 0) {
    auto rows = db.once("SELECT 1");
    bool good = !rows && rows.error().code == BH_FAILED_PRECONDITION && says(rows.error(), "forked");
    db.close();
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(bh::SandboxRecords(db).get("s-1"));
}

TEST_CASE("what was committed survives the killing of its process, what was not does not") {
  Place place;
  auto root = bh::DataRoot::open(place.path + "/d").value();
  std::set<std::string> answered;
  for (int round = 0; round < 10; round++) {
    int out[2];
    REQUIRE(::pipe(out) == 0);
    pid_t child = ::fork();
    if (child == 0) {
      bh::Database db(root);
      bh::SandboxRecords records(db);
      for (int i = 0;; i++) {
        std::string id = "s-" + std::to_string(round) + "-" + std::to_string(i);
        if (!records.put(sample(id))) ::_exit(1);
        id += "\n";
        if (::write(out[1], id.data(), id.size()) < 0) ::_exit(1);
      }
    }
    ::close(out[1]);
    ::usleep(2'000 + 3'000 * static_cast<useconds_t>(round));
    REQUIRE(::kill(child, SIGKILL) == 0);
    std::string text;
    char buffer[4096];
    for (ssize_t got; (got = ::read(out[0], buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<std::size_t>(got));
    }
    ::close(out[0]);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = text.find('\n', at);
      answered.insert(text.substr(at, end - at));
      at = end + 1;
    }
  }
  REQUIRE_FALSE(answered.empty());
  bh::Database db(root);
  bh::SandboxRecords records(db);
  for (const std::string& id : answered) CHECK(records.get(id));
  CHECK(records.all()->size() <= answered.size() + 10);
}
