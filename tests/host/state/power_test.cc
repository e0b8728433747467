// What is left of the database after the power fails: only what SQLite had the disk write.
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "place.h"
#include "state/database.h"
#include "support/catch.h"

using bh_test::Place;

namespace {

// Between SQLite and its files while it lives: whenever one of those beneath `from` is synced, `to`
// gets what it holds. Reads through SQLite's own descriptor, since closing another one of the same
// file would drop its locks.
class Disk {
 public:
  Disk(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {
    std::filesystem::create_directories(to_);
    the_one = this;
    real_ = sqlite3_vfs_find(nullptr);
    ours_ = *real_;
    ours_.zName = "disk";
    ours_.pNext = nullptr;
    ours_.xOpen = &Disk::open;
    ours_.xDelete = &Disk::remove;
    sqlite3_vfs_register(&ours_, 1);
  }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
  ~Disk() {
    sqlite3_vfs_unregister(&ours_);
    sqlite3_vfs_register(real_, 1);
    the_one = nullptr;
  }

  int syncs() {
    std::lock_guard lock(mutex_);
    return syncs_;
  }

 private:
  struct File {
    const sqlite3_io_methods* real;
    sqlite3_io_methods ours;
    std::string name;
  };

  bool sees(std::string_view name) const { return name.substr(0, from_.size()) == from_; }

  static int remove(sqlite3_vfs*, const char* name, int sync_folder) {
    Disk& d = *the_one;
    const int code = d.real_->xDelete(d.real_, name, sync_folder);
    if (code == SQLITE_OK && d.sees(name)) {
      std::filesystem::remove(d.to_ / std::filesystem::path(name).filename());
    }
    return code;
  }

  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
    Disk& d = *the_one;
    const int code = d.real_->xOpen(d.real_, name, file, flags, out);
    if (code != SQLITE_OK || name == nullptr || !d.sees(name)) return code;
    std::lock_guard lock(d.mutex_);
    File& f = d.files_[file];
    f = {file->pMethods, *file->pMethods, std::filesystem::path(name).filename()};
    f.ours.xSync = &Disk::sync;
    file->pMethods = &f.ours;
    return code;
  }

  static int sync(sqlite3_file* file, int flags) {
    Disk& d = *the_one;
    std::lock_guard lock(d.mutex_);
    const File& f = d.files_.at(file);
    const int code = f.real->xSync(file, flags);
    d.syncs_++;
    sqlite3_int64 size = 0;
    if (code == SQLITE_OK && f.real->xFileSize(file, &size) == SQLITE_OK) {
      std::string bytes(static_cast<std::size_t>(size), '\0');
      (void)f.real->xRead(file, bytes.data(), static_cast<int>(size), 0);
      std::ofstream(d.to_ / f.name, std::ios::binary) << bytes;
    }
    return code;
  }

  static inline Disk* the_one = nullptr;
  std::string from_;
  std::filesystem::path to_;
  sqlite3_vfs* real_ = nullptr;
  sqlite3_vfs ours_{};
  std::mutex mutex_;
  std::map<sqlite3_file*, File> files_;
  int syncs_ = 0;
};

void insert(bh::Database& db, std::int64_t number, bh::Worth worth) {
  auto turn = db.write();
  REQUIRE(turn);
  REQUIRE(turn->run("INSERT INTO t VALUES (?)", {number}));
  REQUIRE(turn->commit(worth));
}

struct Powered {
  Place place;
  bh::DataRoot root = bh::DataRoot::open(place.path + "/d").value();
  Disk disk{root.path() + "/state", place.path + "/disk/state"};

  // With a table, nothing in the log, and nobody using it.
  Powered() {
    bh::Database db(root);
    REQUIRE(db.once("CREATE TABLE t (a INTEGER) STRICT"));
    insert(db, 1, bh::Worth::kKept);
  }
  // What the next start would find if the power failed now; `alone`: in the file without its log.
  bool has(std::int64_t number, bool alone = false) {
    const std::string next = place.path + "/next";
    std::filesystem::remove_all(next);
    std::filesystem::copy(place.path + "/disk", next, std::filesystem::copy_options::recursive);
    if (alone) std::filesystem::remove(next + "/state/bulkhead.db-wal");
    auto copy = bh::DataRoot::open(next).value();
    bh::Database db(copy);
    auto rows = db.once("SELECT count(*) FROM t WHERE a=?", {number});
    REQUIRE(rows);
    return rows->front().integer(0) == 1;
  }
};

}  // namespace

TEST_CASE("what is kept outlives the power also where its process never closes the database") {
  Powered p;
  bh::Database never(p.root);
  insert(never, 2, bh::Worth::kPassing);
  CHECK_FALSE(p.has(2));
  insert(never, 3, bh::Worth::kKept);
  CHECK(p.has(3));
  CHECK(p.has(2));
  // Nor do later ones that have nothing to keep undo it.
  for (std::int64_t n = 4; n < 8; n++) {
    bh::Database later(p.root);
    insert(later, n, bh::Worth::kPassing);
    later.close();
    CHECK(p.has(3));
  }
}

TEST_CASE("what is kept is in the database's own file when its writer closes it before others") {
  for (const bool writes : {false, true}) {
    CAPTURE(writes);
    Powered p;
    bh::Database other(p.root);
    REQUIRE(other.once("SELECT a FROM t"));
    if (writes) insert(other, 2, bh::Worth::kPassing);
    bh::Database writer(p.root);
    insert(writer, 3, bh::Worth::kKept);
    writer.close();
    CHECK(p.has(3, true));
    if (writes) insert(other, 4, bh::Worth::kPassing);
    other.close();
    CHECK(p.has(3));
    CHECK(p.has(3, true));
  }
}

TEST_CASE("a process that writes nothing to keep waits for the disk only once the log has grown") {
  Powered p;
  {
    bh::Database first(p.root);  // makes the log, whose head is synced
    insert(first, 2, bh::Worth::kPassing);
  }
  const int before = p.disk.syncs();
  for (std::int64_t n = 3; n < 10; n++) {
    bh::Database db(p.root);
    insert(db, n, bh::Worth::kPassing);
  }
  CHECK(p.disk.syncs() == before);

  // By whomever: one that closes last sees what others have put there.
  bh::Database last(p.root);
  insert(last, 100, bh::Worth::kPassing);
  {
    bh::Database other(p.root);
    for (std::int64_t n = 101; n < 200; n++) insert(other, n, bh::Worth::kPassing);
  }
  last.close();
  CHECK(p.disk.syncs() > before);
  CHECK(p.has(199, true));
}
