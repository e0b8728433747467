#include "state/job_records.h"

#include <utility>

#include "state/sandbox_records.h"

namespace bh {
namespace {

#define BH_JOB_COLUMNS                                                                        \
  "id, sandbox, persona, argv, options, state, reason, message, exit, started_ms, ended_ms, " \
  "bytes, kept_from, owner"

DbValue or_null(const std::optional<std::int64_t>& v) {
  return v ? DbValue(*v) : DbValue(nullptr);
}

Result<JobRecord> record_of(const DbRow& row) {
  JobRecord out;
  out.id = row.text(0);
  out.sandbox = row.text(1);
  out.persona = row.text(2);
  auto argv = json::parse(row.text(3));
  auto options = json::parse_object(row.text(4));
  auto exit = json::parse_object(row.text(8));
  if (!argv || !argv->is_array() || !options || !exit) {
    return fail(BH_DATA_LOSS, "the record of job " + out.id + " cannot be read", "record",
                {{"job", out.id}});
  }
  out.argv = std::move(argv->get_array());
  out.options = std::move(*options);
  out.state = row.text(5);
  out.reason = row.text(6);
  out.message = row.text(7);
  out.exit = std::move(*exit);
  out.started_ms = row.integer(9);
  if (!row.null(10)) out.ended_ms = row.integer(10);
  out.bytes = row.integer(11);
  out.kept_from = row.integer(12);
  out.owner = ProcessName::parse(row.text(13));
  return out;
}

Result<void> nothing(Result<DbRows> rows) {
  if (!rows) return tl::unexpected(std::move(rows).error());
  return {};
}

}  // namespace

Failure no_such_job(const std::string& id) {
  return fail(BH_NOT_FOUND, "there is no job " + json::quote(id), "job_not_found",
              {{"job", id}, {"remedy", "job.list names yours"}});
}

Result<void> JobRecords::put(const JobRecord& r) {
  auto turn = db_.write();
  if (!turn) return tl::unexpected(std::move(turn).error());
  auto there = turn->run("SELECT 1 FROM sandboxes WHERE id=?", {r.sandbox});
  if (!there) return tl::unexpected(std::move(there).error());
  if (there->empty()) return no_such_sandbox(r.sandbox);
  BH_TRY(turn->run("INSERT OR REPLACE INTO jobs (" BH_JOB_COLUMNS
                   ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                   {r.id, r.sandbox, r.persona, json::print(r.argv), json::print(r.options),
                    r.state, r.reason, r.message, json::print(r.exit), r.started_ms, or_null(r.ended_ms),
                    r.bytes, r.kept_from, r.owner.text()}));
  return turn->commit();
}

Result<JobRecord> JobRecords::get(const std::string& id) {
  auto rows = db_.once("SELECT " BH_JOB_COLUMNS " FROM jobs WHERE id=?", {id});
  if (!rows) return tl::unexpected(std::move(rows).error());
  if (rows->empty()) return no_such_job(id);
  return record_of(rows->front());
}

Result<std::vector<JobRecord>> JobRecords::list(const std::string& sandbox,
                                                const std::string& persona) {
  auto rows = db_.once("SELECT " BH_JOB_COLUMNS
                       " FROM jobs WHERE (?1='' OR sandbox=?1) AND (?2='' OR persona=?2)"
                       " ORDER BY started_ms, id",
                       {sandbox, persona});
  if (!rows) return tl::unexpected(std::move(rows).error());
  std::vector<JobRecord> out;
  for (const DbRow& row : *rows) {
    auto record = record_of(row);
    if (!record) return tl::unexpected(std::move(record).error());
    out.push_back(std::move(*record));
  }
  return out;
}

Result<bool> JobRecords::finish(const JobRecord& r) {
  auto turn = db_.write();
  if (!turn) return tl::unexpected(std::move(turn).error());
  BH_TRY(turn->run("UPDATE jobs SET state=?, reason=?, message=?, exit=?, ended_ms=?, bytes=?,"
                   " kept_from=? WHERE id=? AND state='running'",
                   {r.state, r.reason, r.message, json::print(r.exit), or_null(r.ended_ms), r.bytes,
                    r.kept_from, r.id}));
  const bool was_running = turn->changed() == 1;
  BH_TRY(turn->commit());
  return was_running;
}

Result<void> JobRecords::remove(const std::string& id) {
  return nothing(db_.once("DELETE FROM jobs WHERE id=?", {id}));
}

Result<std::vector<std::string>> JobRecords::stale(std::int64_t before_ms, std::int64_t most) {
  auto rows = db_.once(
      "SELECT id FROM (SELECT id, ended_ms, row_number() OVER (PARTITION BY persona"
      " ORDER BY ended_ms DESC) AS place FROM jobs WHERE state<>'running')"
      " WHERE ended_ms<? OR place>? ORDER BY ended_ms",
      {before_ms, most});
  if (!rows) return tl::unexpected(std::move(rows).error());
  std::vector<std::string> out;
  for (const DbRow& row : *rows) out.push_back(row.text(0));
  return out;
}

Result<std::vector<std::string>> JobRecords::lose(std::int64_t now_ms) {
  auto turn = db_.write();
  if (!turn) return tl::unexpected(std::move(turn).error());
  auto rows = turn->run("SELECT id, owner FROM jobs WHERE state='running'");
  if (!rows) return tl::unexpected(std::move(rows).error());
  std::vector<std::string> out;
  for (const DbRow& row : *rows) {
    const ProcessName owner = ProcessName::parse(row.text(1));
    if (owner.alive()) continue;
    BH_TRY(turn->run("UPDATE jobs SET state='lost', reason='owner_ended', ended_ms=?, message=?"
                     " WHERE id=?",
                     {now_ms,
                      "the process that ran it, " + std::to_string(owner.pid) +
                          ", ended before the job did",
                      row.text(0)}));
    out.push_back(row.text(0));
  }
  BH_TRY(turn->commit());
  return out;
}

}  // namespace bh
