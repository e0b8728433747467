// sandbox.pause, .resume, .health, .metrics and .endpoint: a running sandbox as a whole.
#include <unistd.h>

#include <cmath>

#include "operations/catalogue.h"
#include "operations/rooms.h"

namespace bh {
namespace {

std::string id_of(const Arguments& args) {
  return std::string(json::get_string(args.values, "sandbox"));
}

Result<void> pause(Call& call, const Arguments& args) {
  const std::string id = id_of(args);
  BH_TRY(rooms_of(call).sandboxes.pause(call, id));
  return call.set_result(json::print(json::object{{"sandbox", id}, {"state", "paused"}}));
}

Result<void> resume(Call& call, const Arguments& args) {
  const std::string id = id_of(args);
  BH_TRY(rooms_of(call).sandboxes.resume(call, id));
  return call.set_result(json::print(json::object{{"sandbox", id}, {"state", "running"}}));
}

// What the backend says of it (abi/schemas/sandbox_state.json); empty where it says nothing.
Result<json::object> inspected(Call& call, const Sandbox& sandbox) {
  const Backend& backend = *sandbox.opened->backend;
  if (!BH_HAS(&backend.table(), bh_isolation, inspect) || backend.table().inspect == nullptr) {
    return json::object();
  }
  NullSink nowhere;
  NoInput none;
  auto told = drive(call, backend.host(), backend.who("inspect"), nowhere, none, [&](bh_call* c) {
    return backend.table().inspect(sandbox.handle, c);
  });
  if (!told && told.error().code == BH_UNIMPLEMENTED) return json::object();
  if (!told) return tl::unexpected(std::move(told).error());
  auto state = json::parse_object(*told);
  return state ? std::move(*state) : json::object();
}

Result<void> health(Call& call, const Arguments& args) {
  const std::string id = id_of(args);
  auto record = rooms_of(call).sandboxes.connect(call, id);
  if (!record) return tl::unexpected(std::move(record).error());
  std::string why;
  if (record->state != "running") {
    why = "it is " + (record->state == "making" ? std::string("pending") : record->state) +
          (record->message.empty() ? "" : ": " + record->message);
  } else {
    auto sandbox = rooms_of(call).sandboxes.get(call, id);
    if (!sandbox) return tl::unexpected(std::move(sandbox).error());
    if (auto state = inspected(call, **sandbox); !state) {
      BH_TRY(call.check());
      why = state.error().message;
    } else if (std::string said(json::get_string(*state, "state", "running")); said != "running") {
      why = "its backend says that it is " + said;
    }
  }
  json::object out{{"sandbox", id}, {"healthy", why.empty()}};
  out["reason"] = why.empty() ? json::value(nullptr) : json::value(why);
  return call.set_result(json::print(out));
}

double number_of(const json::value* v) {
  if (v == nullptr) return 0;
  if (v->is_int64()) return static_cast<double>(v->get_int64());
  return v->is_double() ? v->get_double() : 0;
}

json::value or_null(const json::object* o, std::string_view key) {
  const json::value* v = o != nullptr ? o->if_contains(key) : nullptr;
  return v != nullptr ? *v : json::value(nullptr);
}

Result<void> metrics(Call& call, const Arguments& args) {
  const std::string id = id_of(args);
  auto sandbox = rooms_of(call).sandboxes.get(call, id);
  if (!sandbox) return tl::unexpected(std::move(sandbox).error());
  auto state = inspected(call, **sandbox);
  if (!state) return tl::unexpected(std::move(state).error());
  const json::object* usage = json::get_object(*state, "usage");
  const json::object* limits = json::get_object((*sandbox)->profile, "limits");
  // Whole processors: a share of one still shows one.
  double cpus = limits != nullptr ? std::ceil(number_of(limits->if_contains("cpu"))) : 0;
  const auto there = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  if (cpus < 1 || cpus > there) cpus = there;
  std::int64_t memory = limits != nullptr ? json::get_int(*limits, "memory_bytes") : 0;
  const std::int64_t has = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  if (memory <= 0 || memory > has) memory = has;
  json::object out{{"sandbox", id}};
  out["cpu_count"] = static_cast<std::int64_t>(cpus);
  // A percentage is of a time between two looks, and this is one.
  out["cpu_percent"] = nullptr;
  out["cpu_ms"] = or_null(usage, "cpu_ms");
  out["memory_limit_bytes"] = memory;
  out["memory_bytes"] = or_null(usage, "memory_bytes");
  out["processes"] = or_null(usage, "pids");
  out["time_ms"] = wall_ms();
  return call.set_result(json::print(out));
}

Result<void> endpoint(Call& call, const Arguments& args) {
  const std::string id = id_of(args);
  auto sandbox = rooms_of(call).sandboxes.get(call, id);
  if (!sandbox) return tl::unexpected(std::move(sandbox).error());
  const json::object* network = json::get_object((*sandbox)->profile, "network");
  const std::string mode(network != nullptr ? json::get_string(*network, "mode") : "");
  if (mode != "unrestricted") {
    return fail(BH_UNIMPLEMENTED,
                "no port of the sandbox " + id + " can be reached: its network is " +
                    (mode.empty() ? "off" : mode) +
                    "; one with network.mode \"unrestricted\" shares the host's",
                "ports_unsupported", {{"sandbox", id}, {"field", "/port"}});
  }
  json::object out{{"sandbox", id}};
  out["endpoint"] = "127.0.0.1:" + std::to_string(json::get_int(args.values, "port"));
  out["headers"] = json::object();
  return call.set_result(json::print(out));
}

OperationSpec named(const char* name, const char* summary) {
  OperationSpec spec;
  spec.name = name;
  spec.summary = summary;
  spec.args_schema =
      R"({"type":"object","required":["sandbox"],"properties":{"sandbox":{"type":"string"}}})";
  spec.repeatable = true;
  spec.reasons = {"sandbox_not_found", "sandbox_state"};
  return spec;
}

}  // namespace

void add_sandbox_state_operations(const AddOperation& add) {
  for (bool paused : {true, false}) {
    OperationSpec spec =
        paused ? named("sandbox.pause", "Stops everything in a sandbox where it is.")
               : named("sandbox.resume", "Lets a paused sandbox go on.");
    spec.result_schema =
        R"({"type":"object","properties":{"sandbox":{"type":"string"},"state":{"enum":["paused","running"]}}})";
    spec.reasons = {"pause_unsupported", "sandbox_ended", "sandbox_not_found", "sandbox_state"};
    spec.run = paused ? pause : resume;
    add(std::move(spec));
  }

  OperationSpec spec = named("sandbox.health", "Says whether commands can be run in a sandbox.");
  spec.result_schema =
      R"({"type":"object","properties":{"sandbox":{"type":"string"},"healthy":{"type":"boolean"},"reason":{"type":["string","null"],"description":"Why not."}}})";
  spec.run = health;
  add(std::move(spec));

  spec = named("sandbox.metrics", "Tells what a sandbox may use and what it uses now.");
  spec.result_schema =
      R"({"type":"object","properties":{"sandbox":{"type":"string"},"cpu_count":{"type":"integer"},"cpu_percent":{"type":["number","null"]},"cpu_ms":{"type":["integer","null"],"description":"Since it was made."},"memory_limit_bytes":{"type":"integer","description":"The machine's, without a limit."},"memory_bytes":{"type":["integer","null"]},"processes":{"type":["integer","null"]},"time_ms":{"type":"integer"}}})";
  spec.run = metrics;
  add(std::move(spec));

  spec = named("sandbox.endpoint", "Tells where a port inside is reached from the host.");
  spec.args_schema =
      R"({"type":"object","required":["sandbox","port"],"properties":{"sandbox":{"type":"string"},"port":{"type":"integer","minimum":1,"maximum":65535}}})";
  spec.result_schema =
      R"({"type":"object","properties":{"sandbox":{"type":"string"},"endpoint":{"type":"string","description":"host:port"},"headers":{"type":"object"}}})";
  spec.reasons = {"ports_unsupported", "sandbox_not_found", "sandbox_state"};
  spec.run = endpoint;
  add(std::move(spec));
}

}  // namespace bh
