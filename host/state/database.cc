#include "state/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/beneath.h"
#include "state/schema.h"

namespace bh {
namespace {

constexpr int kBusyMs = 10'000;
// How much of the write-ahead log may be left at the end, for the next process to read: 64 pages.
constexpr sqlite3_int64 kLogLeft = 64 * (4096 + 24);

bool out_of_room(int number) {
  return number == ENOSPC || number == EDQUOT || number == EFBIG;
}

// SQLite would take 90 KiB for pages with the first one; our database has a handful of them.
void take_pages_singly() {
  static const int once = sqlite3_config(SQLITE_CONFIG_PAGECACHE, nullptr, 0, 0);
  (void)once;
}

// The write-ahead log as SQLite holds it; null where it has not opened it.
sqlite3_file* log_of(sqlite3* db) {
  sqlite3_file* log = nullptr;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) != SQLITE_OK) return nullptr;
  return log != nullptr && log->pMethods != nullptr ? log : nullptr;
}

}  // namespace

std::int64_t DbRow::integer(std::size_t column) const {
  const auto* v = std::get_if<std::int64_t>(&values_.at(column));
  return v != nullptr ? *v : 0;
}

const std::string& DbRow::text(std::size_t column) const {
  static const std::string none;
  const auto* v = std::get_if<std::string>(&values_.at(column));
  return v != nullptr ? *v : none;
}

bool DbRow::null(std::size_t column) const {
  return std::holds_alternative<std::nullptr_t>(values_.at(column));
}

Failure Database::failed(int code) {
  // SQLite does not note it for what fails in a COMMIT; errno is of its last failing call then.
  const int last = errno;
  int system = db_ != nullptr ? sqlite3_system_errno(db_) : 0;
  if (system == 0) system = last;
  const std::string file = path();
  const std::string said = db_ != nullptr ? sqlite3_errmsg(db_) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return fail(BH_DATA_LOSS,
                  "the record of all sandboxes, " + file + ", is damaged (" + said +
                      ")",
                  "state_damaged",
                  {{"file", file},
                   {"remedy", "put a copy in its place, or move it away with its -wal and -shm files to "
                              "start without any sandbox"}});
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fail(BH_UNAVAILABLE,
                  "another process has been writing to " + file +
                      " for a long time",
                  "state_busy",
                  {{"file", file}, {"remedy", "try again, or end a host that is stopped"}});
    case SQLITE_NOMEM:
      return fail(BH_RESOURCE_EXHAUSTED, "there is not enough memory to use " + file, "memory",
                  {{"file", file}, {"remedy", "free some memory, or give the process more"}});
    default:
      break;
  }
  if ((code & 0xff) == SQLITE_FULL || ((code & 0xff) == SQLITE_IOERR && out_of_room(system))) {
    return fail(BH_RESOURCE_EXHAUSTED,
                "the disk is full: there is no room to write to " + file, "state_full",
                {{"file", file}, {"remedy", "free some room on that disk and try again"}});
  }
  if ((code & 0xff) == SQLITE_READONLY || (code & 0xff) == SQLITE_PERM ||
      (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_IOERR) {
    return fail(system != 0 ? code_of_errno(system) : BH_FAILED_PRECONDITION,
                "the record of all sandboxes, " + file + ", cannot be used (" + said + ")",
                "state_unusable",
                {{"file", file},
                 {"remedy", "it must be yours, on a local disk that can be written to"}});
  }
  return fail(BH_INTERNAL, file + ": " + said, "state_unusable", {{"file", file}});
}

Database::~Database() { close(); }

void Database::close() {
  // After a fork it is the parent's: closing would take locks away that this process does not hold.
  if (db_ == nullptr || pid_ != ::getpid()) return;
  std::lock_guard lock(mutex_);
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  statements_.clear();
  if (kept_) {
    // SQLite would do it only if we are the last to close, and who is last may have no reason to.
    (void)sqlite3_wal_checkpoint_v2(db_, "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  } else {
    // Emptying the log waits for the disk three times, which is most of what a short command writes.
    sqlite3_file* log = log_of(db_);
    sqlite3_int64 size = 0;
    if (log != nullptr && log->pMethods->xFileSize(log, &size) == SQLITE_OK && size <= kLogLeft) {
      sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    }
  }
  sqlite3_close(db_);
  db_ = nullptr;
  kept_ = false;
}

// Once the log is on the disk, so is what others wrote to it before: frames count up to the first bad
// one. Not by PRAGMA synchronous, which cannot change in a transaction, where its worth comes out.
Result<void> Database::keep() {
  kept_ = true;
  sqlite3_file* log = log_of(db_);
  const int code = log != nullptr ? log->pMethods->xSync(log, SQLITE_SYNC_NORMAL) : SQLITE_OK;
  if (code != SQLITE_OK) return failed(code);
  return {};
}

Result<void> Database::open() {
  auto folder = root_.folder("state");
  if (!folder) return tl::unexpected(std::move(folder).error());
  // One at a time: turning a new file into what it should be is several steps.
  auto lock = NameLock::take(root_, "state");
  if (!lock) return tl::unexpected(std::move(lock).error());
  {
    // SQLite gives its other files the mode of this one. Only where it is new: closing any
    // descriptor of a file in use would drop this process's locks on it.
    auto made = open_beneath(root_.fd(), "state/bulkhead.db", O_RDWR | O_CREAT | O_EXCL, 0600);
    if (!made && made.error().code != BH_ALREADY_EXISTS) return tl::unexpected(made.error());
  }
  take_pages_singly();
  pid_ = ::getpid();
  int code = sqlite3_open_v2(path().c_str(), &db_,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW |
                                 SQLITE_OPEN_EXRESCODE,
                             nullptr);
  Result<void> done;
  if (code != SQLITE_OK) {
    done = failed(code);
  } else {
    sqlite3_busy_timeout(db_, kBusyMs);
    done = migrate();
  }
  if (!done) {
    sqlite3_close(db_);
    db_ = nullptr;
  }
  return done;
}

Result<void> Database::migrate() {
  auto exec = [this](const std::string& sql) -> Result<void> {
    int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return failed(code);
    return {};
  };
  // What is written is safe from the end of the process at once; from that of the machine by keep().
  BH_TRY(exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
              "PRAGMA journal_size_limit=1048576; PRAGMA trusted_schema=OFF"));
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(db_, "PRAGMA user_version", -1, &statement, nullptr);
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  std::int64_t version = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
  sqlite3_finalize(statement);
  if (code != SQLITE_ROW) return failed(code);
  const auto known = static_cast<std::int64_t>(kSchemaVersion);
  if (version > known) {
    return fail(BH_FAILED_PRECONDITION,
                path() + " was written by a later version of Bulkhead (its version is " +
                    std::to_string(version) + ", this one knows " + std::to_string(known) +
                    ")",
                "state_newer",
                {{"file", path()}, {"remedy", "use that version, or another data_root"}});
  }
  for (; version < known; version++) {
    auto done = exec("BEGIN IMMEDIATE;" + std::string(kSchemaSteps[version]) +
                     "PRAGMA user_version=" + std::to_string(version + 1) + ";COMMIT");
    if (!done) {
      (void)exec("ROLLBACK");
      return done;
    }
    BH_TRY(keep());
  }
  return {};
}

Result<sqlite3_stmt*> Database::prepared(const char* sql) {
  auto known = statements_.find(sql);
  if (known != statements_.end()) return known->second;
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return failed(code);
  statements_.emplace(sql, statement);
  return statement;
}

Result<DbRows> Database::run(const char* sql, const DbValue* values, std::size_t count) {
  auto found = prepared(sql);
  if (!found) return tl::unexpected(std::move(found).error());
  sqlite3_stmt* statement = *found;
  for (std::size_t i = 0; i < count; i++) {
    const int at = static_cast<int>(i) + 1;
    int code = SQLITE_OK;
    if (const auto* text = std::get_if<std::string>(&values[i])) {
      // The values outlive the statement's run.
      code = sqlite3_bind_text64(statement, at, text->data(), text->size(), SQLITE_STATIC,
                                 SQLITE_UTF8);
    } else if (const auto* number = std::get_if<std::int64_t>(&values[i])) {
      code = sqlite3_bind_int64(statement, at, *number);
    } else {
      code = sqlite3_bind_null(statement, at);
    }
    if (code != SQLITE_OK) return failed(code);
  }
  DbRows out;
  int code = SQLITE_OK;
  errno = 0;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    std::vector<DbValue> row;
    const int columns = sqlite3_column_count(statement);
    for (int i = 0; i < columns; i++) {
      switch (sqlite3_column_type(statement, i)) {
        case SQLITE_NULL:
          row.emplace_back(nullptr);
          break;
        case SQLITE_INTEGER:
          row.emplace_back(static_cast<std::int64_t>(sqlite3_column_int64(statement, i)));
          break;
        default: {
          const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, i));
          const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, i));
          row.emplace_back(bytes != nullptr ? std::string(bytes, size) : std::string());
        }
      }
    }
    out.emplace_back(std::move(row));
  }
  Result<DbRows> result = std::move(out);
  if (code != SQLITE_DONE) result = failed(code);
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  return result;
}

Result<Database::Turn> Database::begin(const char* sql) {
  std::unique_lock lock(mutex_);
  if (db_ == nullptr) {
    BH_TRY(open());
  } else if (pid_ != ::getpid()) {
    return fail(BH_FAILED_PRECONDITION,
                path() + " was opened by another process and does not survive fork()", "forked");
  }
  auto begun = run(sql, nullptr, 0);
  if (!begun) return tl::unexpected(std::move(begun).error());
  return Turn(*this, std::move(lock), sqlite3_total_changes64(db_));
}

Result<Database::Turn> Database::write() { return begin("BEGIN IMMEDIATE"); }
Result<Database::Turn> Database::read() { return begin("BEGIN"); }

Result<DbRows> Database::once(const char* sql, std::initializer_list<DbValue> values) {
  // Readers wait for nobody.
  auto turn = std::string_view(sql).substr(0, 6) == "SELECT" ? read() : write();
  if (!turn) return tl::unexpected(std::move(turn).error());
  auto rows = turn->run(sql, values);
  if (rows) BH_TRY(turn->commit());
  return rows;
}

Database::Turn::Turn(Turn&& other) noexcept
    : db_(std::exchange(other.db_, nullptr)),
      lock_(std::move(other.lock_)),
      changes_(other.changes_) {}

Database::Turn::~Turn() {
  if (db_ != nullptr && sqlite3_get_autocommit(db_->db_) == 0) (void)db_->run("ROLLBACK", nullptr, 0);
}

Result<DbRows> Database::Turn::run(const char* sql, std::initializer_list<DbValue> values) {
  return db_->run(sql, values.begin(), values.size());
}

std::int64_t Database::Turn::changed() const { return sqlite3_changes64(db_->db_); }

Result<void> Database::Turn::commit(Worth worth) {
  auto done = db_->run("COMMIT", nullptr, 0);
  if (!done) return tl::unexpected(std::move(done).error());
  if (worth == Worth::kPassing || sqlite3_total_changes64(db_->db_) == changes_) return {};
  return db_->keep();
}

}  // namespace bh
