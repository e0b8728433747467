// job.start, .get, .list, .attach and .forget: commands that outlive the call that started them.
#include "operations/catalogue.h"
#include "operations/command.h"
#include "operations/rooms.h"

namespace bh {
namespace {

constexpr char kJobProperties[] =
    R"("job":{"type":"string"},"sandbox":{"type":"string"},"argv":{"type":"array","description":"As job.start got it."},"state":{"enum":["running","ended","lost"],"description":"lost: the process that ran it ended first, and the command with it."},"reason":{"enum":["stopped","failed","owner_ended",null],"description":"Where exit does not say it."},"message":{"type":["string","null"]},"exit":{"type":"object","description":"Of one that has ended; as sandbox.exec's."},"started_ms":{"type":"integer","description":"Unix time."},"ended_ms":{"type":["integer","null"]},"bytes":{"type":"integer","description":"Of stdout and stderr so far."},"kept_from":{"type":"integer","description":"The first of them that can still be read."},"owner":{"type":["object","null"],"description":"The process that runs it.","properties":{"pid":{"type":"integer"},"here":{"type":"boolean"}}},"persona":{"type":"string","description":"For the operator alone."})";

std::string id_of(const Arguments& args) { return std::string(json::get_string(args.values, "job")); }

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

json::object item_of(const Session& session, const JobRecord& record) {
  json::object out;
  out["job"] = record.id;
  out["sandbox"] = record.sandbox;
  out["argv"] = record.argv;
  out["state"] = record.state;
  out["reason"] = text_or_null(record.reason);
  out["message"] = text_or_null(record.message);
  if (record.state == "ended") out["exit"] = record.exit;
  out["started_ms"] = record.started_ms;
  out["ended_ms"] = record.ended_ms ? json::value(*record.ended_ms) : json::value(nullptr);
  out["bytes"] = record.bytes;
  out["kept_from"] = record.kept_from;
  out["owner"] = nullptr;
  if (record.state == "running") {
    out["owner"] = {{"pid", record.owner.pid}, {"here", record.owner.here()}};
  }
  if (session.is_operator) out["persona"] = record.persona;
  return out;
}

Result<void> start(Call& call, const Arguments& args) {
  auto argv = argv_of(args.values);
  if (!argv) return tl::unexpected(std::move(argv).error());
  auto use = sandbox_for(call, args.values);
  if (!use) return tl::unexpected(std::move(use).error());
  NewJob job;
  job.argv = std::move(*argv);
  job.argv_json = *json::get_array(args.values, "argv");
  job.options = options_of(args.values, (*use)->env);
  BH_TRY(check_options(*(*use)->opened, job.options));
  auto started = rooms_of(call).jobs.start(call, std::move(*use), std::move(job));
  if (!started) return tl::unexpected(std::move(started).error());
  return call.set_result(json::print(json::object{{"job", started->id},
                                                  {"sandbox", started->sandbox},
                                                  {"state", "running"},
                                                  {"started_ms", started->started_ms}}));
}

Result<void> get(Call& call, const Arguments& args) {
  auto job = rooms_of(call).jobs.get(call.session(), id_of(args));
  if (!job) return tl::unexpected(std::move(job).error());
  return call.set_result(json::print(item_of(call.session(), *job)));
}

Result<void> list(Call& call, const Arguments& args) {
  const std::string sandbox(json::get_string(args.values, "sandbox"));
  auto jobs = rooms_of(call).jobs.list(call.session(), sandbox);
  if (!jobs) return tl::unexpected(std::move(jobs).error());
  // Jobs outlive their sandbox; where there are none, it has to be there itself.
  if (jobs->empty() && args.values.contains("sandbox")) {
    BH_TRY(rooms_of(call).sandboxes.record(call.session(), sandbox));
  }
  for (const JobRecord& job : *jobs) {
    const bh_status st = call.item(json::print(item_of(call.session(), job)));
    if (st != BH_OK) return tl::unexpected(stop_error(st));
  }
  return call.set_result(
      json::print(json::object{{"count", static_cast<std::int64_t>(jobs->size())}}));
}

Result<void> attach(Call& call, const Arguments& args) {
  auto done = rooms_of(call).jobs.attach(call, id_of(args), json::get_int(args.values, "cursor"),
                                         json::get_bool(args.values, "follow"),
                                         json::get_int(args.values, "max_bytes", kNoLimit));
  if (!done) return tl::unexpected(std::move(done).error());
  json::object out;
  out["job"] = done->job.id;
  out["next"] = done->next;
  out["skipped"] = done->skipped;
  out["running"] = done->job.state == "running";
  if (done->job.state == "ended") out["exit"] = std::move(done->job.exit);
  // Also of one that was broken off: the fault's "partial" says where to go on.
  BH_TRY(call.set_result(json::print(out)));
  if (done->error) return tl::unexpected(std::move(*done->error));
  return {};
}

Result<void> forget(Call& call, const Arguments& args) {
  const std::string id = id_of(args);
  BH_TRY(rooms_of(call).jobs.forget(call.session(), id));
  return call.set_result(json::print(json::object{{"job", id}}));
}

OperationSpec named(const char* name, const char* summary) {
  OperationSpec spec;
  spec.name = name;
  spec.summary = summary;
  spec.args_schema = R"({"type":"object","required":["job"],"properties":{"job":{"type":"string"}}})";
  spec.lane = Lane::kControl;
  spec.reasons = {"job_not_found"};
  return spec;
}

}  // namespace

void add_job_operations(const AddOperation& add) {
  OperationSpec spec;
  spec.name = "job.start";
  spec.summary =
      "Starts a command that goes on after this call, until it ends, is ended, or this process closes.";
  spec.args_schema = R"({"type":"object","required":["argv"],"properties":{)" +
                     command_properties() + "}}";
  spec.result_schema =
      R"({"type":"object","properties":{"job":{"type":"string","description":"Also the command's name for sandbox.signal and sandbox.interrupt."},"sandbox":{"type":"string"},"state":{"const":"running"},"started_ms":{"type":"integer","description":"Unix time."}}})";
  spec.reasons = {"backend_not_permitted", "backend_unavailable", "exec_option_unsupported",
                  "image_unknown", "image_unsupported", "not_enforced", "pool_full",
                  "sandbox_ended", "sandbox_not_found", "sandbox_owned", "sandbox_state",
                  "too_large", "too_many_jobs", "workspace_refused"};
  spec.run = start;
  add(std::move(spec));

  spec = named("job.get", "Tells what is known of a job.");
  spec.result_schema =
      std::string(R"({"type":"object","properties":{)") + kJobProperties + "}}";
  spec.repeatable = true;
  spec.run = get;
  add(std::move(spec));

  spec = {};
  spec.name = "job.list";
  spec.summary =
      "Lists the persona's jobs, also those that ended in the last day; the operator's session lists all.";
  spec.args_schema =
      R"({"type":"object","properties":{"sandbox":{"type":"string","description":"Those of this one alone, also after its end."}}})";
  spec.result_schema = R"({"type":"object","properties":{"count":{"type":"integer"}}})";
  spec.output = "items as job.get";
  spec.lane = Lane::kControl;
  spec.repeatable = true;
  spec.reasons = {"sandbox_not_found"};
  spec.run = list;
  add(std::move(spec));

  spec = named("job.attach",
               "Gives a job's output from a byte on; its end, or the caller's, leaves the job alone.");
  spec.args_schema =
      R"({"type":"object","required":["job"],"properties":{"job":{"type":"string"},"cursor":{"type":"integer","minimum":0,"description":"A byte of stdout and stderr as they came; 0, or \"next\" of an earlier call."},"follow":{"type":"boolean","description":"Until the job ends; without it, what is there now."},"max_bytes":{"type":"integer","minimum":1}}})";
  spec.result_schema =
      R"({"type":"object","properties":{"job":{"type":"string"},"next":{"type":"integer","description":"The cursor to go on from."},"skipped":{"type":"integer","description":"Bytes that are no longer kept: 64 MiB of a job are."},"running":{"type":"boolean"},"exit":{"type":"object","description":"Of one that has ended."}}})";
  spec.output = "streams 1 (stdout) and 2 (stderr)";
  spec.lane = Lane::kWork;
  spec.repeatable = true;
  spec.reasons = {"job_cursor", "job_not_found"};
  spec.run = attach;
  add(std::move(spec));

  spec = named("job.forget", "Removes a job that has ended, and its output.");
  spec.result_schema = R"({"type":"object","properties":{"job":{"type":"string"}}})";
  spec.reasons = {"job_not_found", "job_running"};
  spec.run = forget;
  add(std::move(spec));
}

}  // namespace bh
