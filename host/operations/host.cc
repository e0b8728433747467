// host.inspect, operation.list and log.follow: the host itself.
#include <bulkhead/host.h>

#include "operations/catalogue.h"
#include "operations/rooms.h"

namespace bh {
namespace {

Result<void> inspect(Call& call, const Arguments&) {
  HostRooms& rooms = rooms_of(call);
  json::object out = rooms.settings.shown;
  out["version"] = bh_version_text();
  out["abi"] = std::to_string(BH_ABI_MAJOR) + "." + std::to_string(BH_ABI_MINOR);
  out["persona"] = call.session().persona;
  out["operator"] = call.session().is_operator;
  json::array backends;
  for (const std::string& id : rooms.backends.names()) backends.emplace_back(id);
  out["backends"] = std::move(backends);
  if (auto preferred = rooms.backends.candidates("")) out["backend"] = preferred->front();
  return call.set_result(json::print(out));
}

json::object described(const Catalogue::Entry& entry) {
  const OperationSpec& spec = entry.spec;
  json::object o;
  o["name"] = spec.name;
  o["version"] = spec.major;
  o["summary"] = spec.summary;
  o["args"] = json::parse(spec.args_schema).value();
  o["result"] = spec.result_schema.empty() ? json::value(nullptr)
                                           : json::parse(spec.result_schema).value();
  o["input"] = spec.input;
  o["output"] = spec.output;
  o["lane"] = spec.lane == Lane::kControl ? "control" : "work";
  o["quick"] = spec.quick;
  o["repeatable"] = spec.repeatable;
  json::array reasons;
  for (const std::string& reason : spec.reasons) reasons.emplace_back(reason);
  o["reasons"] = std::move(reasons);
  return o;
}

Result<void> list(Call& call, const Arguments&) {
  std::int64_t count = 0;
  for (const auto& [name, entry] : call.engine().catalogue().entries()) {
    if (bh_status st = call.item(json::print(described(entry)))) {
      return tl::unexpected(stop_error(st));
    }
    count++;
  }
  return call.set_result(json::print(json::object{{"count", count}}));
}

// Records between who logs and who follows: bounded, so that a slow reader costs others nothing.
struct Backlog {
  std::mutex mutex;
  std::vector<std::string> records;
  std::int64_t dropped = 0;
};

Result<void> follow(Call& call, const Arguments& args) {
  static constexpr std::size_t kMost = 4096;
  std::string_view name = json::get_string(args.values, "level", "info");
  auto backlog = std::make_shared<Backlog>();
  std::shared_ptr<Run> run = call.run().shared_from_this();
  auto handle = call.engine().log().follow(
      log_level_of(name), call.session(), [backlog, run](const std::string& record) {
        {
          std::lock_guard lock(backlog->mutex);
          if (backlog->records.size() >= kMost) {
            backlog->dropped++;
            return;
          }
          backlog->records.push_back(record);
        }
        std::lock_guard lock(run->mutex());
        run->notify_locked();
      });
  for (;;) {
    std::vector<std::string> records;
    std::int64_t dropped = 0;
    {
      std::unique_lock lock(run->mutex());
      auto ready = [&] {
        std::lock_guard inner(backlog->mutex);
        return !backlog->records.empty();
      };
      if (bh_status st = run->wait_for(call, lock, ready)) {
        lock.unlock();
        handle.reset();
        return tl::unexpected(stop_error(st));
      }
      std::lock_guard inner(backlog->mutex);
      records.swap(backlog->records);
      dropped = std::exchange(backlog->dropped, 0);
    }
    if (dropped > 0) {
      records.push_back(json::print(json::object{
          {"level", "warn"}, {"message", std::to_string(dropped) + " records were dropped"}}));
    }
    for (const std::string& record : records) {
      if (bh_status st = call.item(record)) return tl::unexpected(stop_error(st));
    }
  }
}

}  // namespace

void add_host_operations(const AddOperation& add) {
  OperationSpec spec;
  spec.name = "host.inspect";
  spec.summary = "Tells what this host is, where its data lies and what its defaults are.";
  spec.args_schema = R"({"type":"object","properties":{}})";
  spec.result_schema =
      R"({"type":"object","properties":{"version":{"type":"string"},"abi":{"type":"string"},"data_root":{"type":"string"},"persona":{"type":"string"},"operator":{"type":"boolean"},"defaults":{"type":"object"},"backends":{"type":"array"},"backend":{"type":"string"},"library":{"type":"string"}}})";
  spec.quick = true;
  spec.repeatable = true;
  spec.run = inspect;
  add(std::move(spec));

  spec = {};
  spec.name = "operation.list";
  spec.summary = "Lists all operations with their schemas.";
  spec.args_schema = R"({"type":"object","properties":{}})";
  spec.result_schema = R"({"type":"object","properties":{"count":{"type":"integer"}}})";
  spec.output =
      "items {name, version, summary, args, result, input, output, lane, quick, repeatable, reasons}";
  spec.quick = true;
  spec.repeatable = true;
  spec.run = list;
  add(std::move(spec));

  spec = {};
  spec.name = "log.follow";
  spec.summary = "Follows the log until it is cancelled: one's own records, the operator's session all.";
  spec.args_schema =
      R"({"type":"object","properties":{"level":{"enum":["trace","debug","info","warn","error","host_misuse","plugin_misuse"]}}})";
  spec.output = "items {time_ms, level, message, plugin, persona, fields}";
  spec.repeatable = true;
  spec.run = follow;
  add(std::move(spec));
}

}  // namespace bh
