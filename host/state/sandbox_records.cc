#include "state/sandbox_records.h"

#include <algorithm>
#include <utility>

#include "core/clock.h"

namespace bh {
namespace {

#define BH_LIFE_COLUMNS                                                                     \
  "id, persona, backend, default_key, state, reason, message, created_ms, changed_ms, "     \
  "used_ms, expires_ms, owner, busy, inherited, actor"
#define BH_COLUMNS BH_LIFE_COLUMNS ", image, env, metadata, profile, report, root_image"
constexpr std::size_t kWhole = 15;  // the first column beyond those of a life

DbValue or_null(const std::optional<std::int64_t>& v) {
  return v ? DbValue(*v) : DbValue(nullptr);
}

SandboxLife life_of(const DbRow& row) {
  SandboxLife out;
  out.id = row.text(0);
  out.persona = row.text(1);
  out.backend = row.text(2);
  out.default_key = row.text(3);
  out.state = row.text(4);
  out.reason = row.text(5);
  out.message = row.text(6);
  out.created_ms = row.integer(7);
  out.changed_ms = row.integer(8);
  out.used_ms = row.integer(9);
  if (!row.null(10)) out.expires_ms = row.integer(10);
  out.owner = ProcessName::parse(row.text(11));
  out.busy = row.integer(12);
  out.inherited = row.integer(13) != 0;
  out.actor = ProcessName::parse(row.text(14));
  return out;
}

Result<SandboxRecord> record_of(const DbRow& row) {
  SandboxRecord out;
  static_cast<SandboxLife&>(out) = life_of(row);
  out.image = row.text(kWhole);
  json::object* const parts[] = {&out.env, &out.metadata, &out.profile, &out.report};
  for (std::size_t i = 0; i < 4; i++) {
    auto parsed = json::parse_object(row.text(kWhole + 1 + i));
    if (!parsed) {
      return fail(BH_DATA_LOSS, "the record of sandbox " + out.id + " cannot be read", "record",
                  {{"sandbox", out.id}});
    }
    *parts[i] = std::move(*parsed);
  }
  out.root_image = row.text(kWhole + 5);
  return out;
}

template <class T>
Result<T> only(Result<DbRows> rows, const std::string& id, Result<T> (*read)(const DbRow&)) {
  if (!rows) return tl::unexpected(std::move(rows).error());
  if (rows->empty()) return no_such_sandbox(id);
  return read(rows->front());
}

Result<SandboxLife> read_life(const DbRow& row) { return life_of(row); }

}  // namespace

Failure no_such_sandbox(const std::string& id) {
  return fail(BH_NOT_FOUND, "there is no sandbox " + json::quote(id), "sandbox_not_found",
              {{"sandbox", id}, {"remedy", "sandbox.list names yours"}});
}

bool valid_sandbox_id(std::string_view id) {
  return !id.empty() && id.size() <= 63 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

Result<void> SandboxRecords::put(const SandboxRecord& r) {
  auto done = db_.once(
      "INSERT INTO sandboxes (" BH_COLUMNS
      ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (id) DO UPDATE SET"
      " persona=excluded.persona, backend=excluded.backend, default_key=excluded.default_key,"
      " state=excluded.state, reason=excluded.reason, message=excluded.message,"
      " created_ms=excluded.created_ms, changed_ms=excluded.changed_ms, used_ms=excluded.used_ms,"
      " expires_ms=excluded.expires_ms, owner=excluded.owner, busy=excluded.busy,"
      " inherited=excluded.inherited, actor=excluded.actor, image=excluded.image,"
      " env=excluded.env, metadata=excluded.metadata, profile=excluded.profile,"
      " report=excluded.report, root_image=excluded.root_image",
      {r.id, r.persona, r.backend, r.default_key, r.state, r.reason, r.message, r.created_ms,
       r.changed_ms, r.used_ms, or_null(r.expires_ms), r.owner.text(), r.busy,
       std::int64_t{r.inherited}, r.actor.text(), r.image, json::print(r.env),
       json::print(r.metadata), json::print(r.profile), json::print(r.report), r.root_image});
  if (!done) return tl::unexpected(std::move(done).error());
  return {};
}

Result<bool> SandboxRecords::finish_making(const SandboxRecord& r) {
  auto turn = db_.write();
  if (!turn) return tl::unexpected(std::move(turn).error());
  auto done = turn->run(
      "UPDATE sandboxes SET backend=?, state=?, changed_ms=?, used_ms=?, expires_ms=?, actor='',"
      " profile=?, report=? WHERE id=? AND state='making' AND reason='' AND actor=?",
      {r.backend, r.state, r.changed_ms, r.used_ms, or_null(r.expires_ms), json::print(r.profile),
       json::print(r.report), r.id, r.actor.text()});
  if (!done) return tl::unexpected(std::move(done).error());
  const bool still = turn->changed() == 1;
  BH_TRY(turn->commit());
  return still;
}

Result<SandboxRecord> SandboxRecords::get(const std::string& id) {
  if (!valid_sandbox_id(id)) return no_such_sandbox(id);
  return only(db_.once("SELECT " BH_COLUMNS " FROM sandboxes WHERE id=?", {id}), id, record_of);
}

Result<SandboxLife> SandboxRecords::life(const std::string& id) {
  if (!valid_sandbox_id(id)) return no_such_sandbox(id);
  return only(db_.once("SELECT " BH_LIFE_COLUMNS " FROM sandboxes WHERE id=?", {id}), id, read_life);
}

Result<void> SandboxRecords::remove(const std::string& id) {
  auto done = db_.once("DELETE FROM sandboxes WHERE id=?", {id});
  if (!done) return tl::unexpected(std::move(done).error());
  return {};
}

Result<std::int64_t> SandboxRecords::count(const std::string& persona) {
  auto rows = db_.once("SELECT count(*) FROM sandboxes WHERE persona=?", {persona});
  if (!rows) return tl::unexpected(std::move(rows).error());
  return rows->front().integer(0);
}

Result<std::vector<SandboxRecord>> SandboxRecords::all(const std::string& persona) {
  auto rows = db_.once("SELECT " BH_COLUMNS
                       " FROM sandboxes WHERE ?1='' OR persona=?1 ORDER BY created_ms, id",
                       {persona});
  if (!rows) return tl::unexpected(std::move(rows).error());
  std::vector<SandboxRecord> out;
  for (const DbRow& row : *rows) {
    auto record = record_of(row);
    if (!record) return tl::unexpected(std::move(record).error());
    out.push_back(std::move(*record));
  }
  return out;
}

Result<std::vector<SandboxLife>> SandboxRecords::lives() {
  auto rows = db_.once("SELECT " BH_LIFE_COLUMNS " FROM sandboxes ORDER BY created_ms, id");
  if (!rows) return tl::unexpected(std::move(rows).error());
  std::vector<SandboxLife> out;
  for (const DbRow& row : *rows) out.push_back(life_of(row));
  return out;
}

Result<void> SandboxRecords::save(Database::Turn& turn, const SandboxLife& was, SandboxLife& l) {
  if (l.state != was.state) l.changed_ms = wall_ns() / 1'000'000;
  auto done = turn.run(
      "UPDATE sandboxes SET state=?, reason=?, message=?, changed_ms=?, used_ms=?, expires_ms=?,"
      " owner=?, busy=?, inherited=?, actor=? WHERE id=?",
      {l.state, l.reason, l.message, l.changed_ms, l.used_ms, or_null(l.expires_ms),
       l.owner.text(), l.busy, std::int64_t{l.inherited}, l.actor.text(), l.id});
  if (!done) return tl::unexpected(std::move(done).error());
  // Who uses it just now, and since when: after a crash of the machine nobody does.
  const bool passing = l.state == was.state && l.reason == was.reason && l.message == was.message &&
                       l.expires_ms == was.expires_ms && l.actor == was.actor;
  return turn.commit(passing ? Worth::kPassing : Worth::kKept);
}

Result<SandboxLife> SandboxRecords::change(const std::string& id, const Step& step) {
  if (!valid_sandbox_id(id)) return no_such_sandbox(id);
  auto turn = db_.write();
  if (!turn) return tl::unexpected(std::move(turn).error());
  auto was = only(turn->run("SELECT " BH_LIFE_COLUMNS " FROM sandboxes WHERE id=?", {id}), id,
                  read_life);
  if (!was) return was;
  SandboxLife life = *was;
  BH_TRY(step(life));
  BH_TRY(save(*turn, *was, life));
  return life;
}

Result<std::optional<SandboxLife>> SandboxRecords::change_default(const std::string& key,
                                                                  const Pick& pick) {
  auto turn = db_.write();
  if (!turn) return tl::unexpected(std::move(turn).error());
  auto rows = turn->run("SELECT " BH_LIFE_COLUMNS
                        " FROM sandboxes WHERE default_key=? AND default_key<>''"
                        " ORDER BY created_ms, id",
                        {key});
  if (!rows) return tl::unexpected(std::move(rows).error());
  std::vector<SandboxLife> was;
  for (const DbRow& row : *rows) was.push_back(life_of(row));
  std::vector<SandboxLife> now = was;
  SandboxLife* picked = pick(now);
  if (picked == nullptr) return std::optional<SandboxLife>();
  BH_TRY(save(*turn, was[static_cast<std::size_t>(picked - now.data())], *picked));
  return std::optional<SandboxLife>(std::move(*picked));
}

}  // namespace bh
