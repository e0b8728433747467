// BH_ROW("F1", "what it is about") { … row … }: a row of the table, run against every backend as a
// test case of its own. Several bodies may have one id; together they are the row.
#pragma once

#include <map>
#include <string>

#include "cell.h"
#include "rows.h"

namespace bh_test {

class Row {
 public:
  Row(std::string id, std::string backend) : id_(std::move(id)), backend_(std::move(backend)) {}

  const std::string& backend() const { return backend_; }
  // Whether the backend shows a sandbox files of its own choosing, through mounts.
  bool has_mounts() const { return backend_ != "landlock"; }
  bool as_root() const;

  // What was found, in a word of the table: refused, hidden, limited, ended, told, works.
  void is(const std::string& word) { words_.insert(word); }
  void not_applicable(const std::string& why) { words_.insert("not applicable"), note(why); }
  void skipped(const std::string& why) { words_.insert("skipped"), note(why); }
  void note(const std::string& why) { notes_.insert(why); }
  // Says that there is no attempt without a sandbox, and why not.
  void no_control(const std::string& why) { notes_.insert("no control: " + why); }

  // Makes `prepare`'s ways without a sandbox, where each must work, and then in one, where none
  // may, unless the report says of a rule that the cell names that it does not hold. `after` looks
  // at what was left when none worked.
  void attacks(const std::string& word, const std::function<Ways(Cell&)>& prepare,
               const std::function<void(Cell&)>& after = {});
  // The same for one attempt: true when it worked.
  void attack(const std::string& word, const std::function<bool(Cell&)>& works,
              const std::function<void(Cell&)>& after = {});
  // Judges an attempt that the row made itself.
  void judge(bool worked, const std::string& word, const std::vector<std::string>& rules,
             const std::string& report);

  // What the probe's calls answer in a sandbox of this backend, and without one: there as root of a
  // mount namespace of its own, so that no call does harm. Asked once a process.
  const std::map<std::string, std::string>& calls() const;
  static const std::map<std::string, std::string>& free_calls();
  // Each is refused by one of the filter's answers, and is not without a sandbox; for an ordinary
  // user the kernel may refuse some of itself.
  void calls_refused(const std::vector<std::string>& names);

  bool has_verdict() const { return !words_.empty(); }
  // A line for table.py in the file that BH_ESCAPE_RECORD names.
  void record() const;

 private:
  std::string id_, backend_;
  Names words_, notes_;
};

using RowBody = void (*)(Row&);

// Bodies by id.
std::map<std::string, int>& row_registry();
struct RegisteredRow {
  explicit RegisteredRow(const char* id) { ++row_registry()[id]; }
};

void run_row(const char* id, const char* backend, RowBody body);

}  // namespace bh_test

#define BH_ROW_JOIN_(a, b) a##b
#define BH_ROW_NAME_(number) BH_ROW_JOIN_(bh_row_, number)
#define BH_ROW(id, about) BH_ROW_(id, about, BH_ROW_NAME_(__COUNTER__))
#define BH_ROW_(id, about, body)                                                 \
  static void body(bh_test::Row&);                                               \
  static const bh_test::RegisteredRow BH_ROW_JOIN_(body, _registered)(id);       \
  TEST_CASE(id " ns: " about) { bh_test::run_row(id, "ns", &body); }             \
  TEST_CASE(id " bwrap: " about) { bh_test::run_row(id, "bwrap", &body); }       \
  TEST_CASE(id " landlock: " about) { bh_test::run_row(id, "landlock", &body); } \
  static void body([[maybe_unused]] bh_test::Row& row)

// Leaves a row that cannot run here, or that is not about this backend.
#define BH_ROW_SKIP(why)                             \
  do {                                               \
    row.skipped(why);                                \
    bh_test::say_skipped(__FILE__, __LINE__, (why)); \
    return;                                          \
  } while (false)
