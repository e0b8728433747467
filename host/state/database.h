// DATA_ROOT/state/bulkhead.db: one SQLite database, which several processes may use at once. Opened
// on first use; a transaction that was committed survives the end of its process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "state/data_root.h"

struct sqlite3;
struct sqlite3_stmt;

namespace bh {

// One value of a row, or for a "?" of a statement. Text may hold any bytes.
using DbValue = std::variant<std::nullptr_t, std::int64_t, std::string>;

class DbRow {
 public:
  explicit DbRow(std::vector<DbValue> values) : values_(std::move(values)) {}
  // NULL and the other kind read as 0 or empty.
  std::int64_t integer(std::size_t column) const;
  const std::string& text(std::size_t column) const;
  bool null(std::size_t column) const;

 private:
  std::vector<DbValue> values_;
};

using DbRows = std::vector<DbRow>;

// What a transaction wrote: kept, or of worth only to processes that live (who uses what just now).
// Both outlive the process. What is kept is on the disk, past a crash of the machine, when commit()
// returns, and in the database's own file when its writer closes it (unless somebody reads an older
// state just then: when the next one writes what is kept); the other may wait for more.
enum class Worth { kKept, kPassing };

// All [any]. Errors of every function: FAILED_PRECONDITION state_newer (made by a later version) and
// forked; DATA_LOSS state_damaged; RESOURCE_EXHAUSTED state_full; UNAVAILABLE state_busy (another
// process writes for longer than anybody should); state_unusable by errno. Each names the file.
class Database {
 public:
  explicit Database(const DataRoot& root) : root_(root) {}
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  // One transaction: the connection is its own while it lives. Rolled back unless committed.
  class Turn {
   public:
    Turn(Turn&& other) noexcept;
    Turn& operator=(Turn&&) = delete;
    ~Turn();

    // `sql` is a literal: prepared once and kept by its address.
    Result<DbRows> run(const char* sql, std::initializer_list<DbValue> values = {});
    // How many rows the last run() changed.
    std::int64_t changed() const;
    Result<void> commit(Worth worth = Worth::kKept);

   private:
    friend class Database;
    Turn(Database& db, std::unique_lock<std::mutex> lock, std::int64_t changes)
        : db_(&db), lock_(std::move(lock)), changes_(changes) {}
    Database* db_;
    std::unique_lock<std::mutex> lock_;
    std::int64_t changes_;  // of the connection, when it began
  };

  // BEGIN IMMEDIATE: nobody else writes until it ends. [blocking]
  Result<Turn> write();
  // A consistent view of what is there. [blocking]
  Result<Turn> read();
  // One statement as a transaction of its own. [blocking]
  Result<DbRows> once(const char* sql, std::initializer_list<DbValue> values = {});

  // Lets the file go; the next use opens it again.
  void close();
  std::string path() const { return root_.path() + "/state/bulkhead.db"; }

 private:
  Result<Turn> begin(const char* sql);
  Result<void> open();
  Result<void> migrate();
  Result<DbRows> run(const char* sql, const DbValue* values, std::size_t count);
  Result<sqlite3_stmt*> prepared(const char* sql);
  Failure failed(int code);
  Result<void> keep();

  const DataRoot& root_;
  std::mutex mutex_;
  pid_t pid_ = 0;
  sqlite3* db_ = nullptr;
  bool kept_ = false;  // something was written that must not wait
  std::map<const char*, sqlite3_stmt*> statements_;
};

}  // namespace bh
