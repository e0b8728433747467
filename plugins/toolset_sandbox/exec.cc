#include "exec.h"

#include <utility>

#include "encoding.h"

namespace toolset_sandbox {

const char kOutcomeSchema[] = R"({
  "type":"object",
  "required":["exit_code","reason","stdout","stderr","sandbox_id"],
  "properties":{
    "exit_code":{"type":["integer","null"],"description":"null: it did not exit by itself"},
    "reason":{"type":"string","description":"code, signal, memory, time, output, policy, stopped, lost or unknown"},
    "signal":{"type":["integer","null"]},
    "stdout":{"type":"string"},
    "stderr":{"type":"string"},
    "stdout_bytes":{"type":"integer"},
    "stderr_bytes":{"type":"integer"},
    "stdout_missing":{"type":"integer","description":"Bytes left out in the middle"},
    "stderr_missing":{"type":"integer"},
    "wall_ms":{"type":"integer"},
    "sandbox_id":{"type":"string"},
    "denials":{"type":"array"}
  }
})";

namespace {

std::optional<int64_t> number(const json::object& o, std::string_view key) {
  const json::value* v = o.if_contains({key.data(), key.size()});
  if (v == nullptr || !v->is_number()) return std::nullopt;
  return json::integer(o, key);
}

void take_started(std::string_view item, Outcome& outcome) {
  auto object = json::parse_object(item);
  if (!object) return;
  const json::object* started = json::child(*object, "started");
  if (started == nullptr) return;
  outcome.sandbox = json::text(*started, "sandbox");
  outcome.exec = json::text(*started, "exec");
  outcome.backend = json::text(*started, "backend");
  if (const auto* report = json::child(*started, "enforcement")) outcome.enforcement = *report;
}

void take_collected(const json::object& result, std::string_view key, Output& output) {
  const json::object* stream = json::child(result, key);
  if (stream == nullptr) return;
  std::string text(json::text(*stream, "text"));
  if (stream->contains("base64")) {
    text = from_base64(json::text(*stream, "base64")).value_or("");
  }
  output.collected(std::move(text), static_cast<uint64_t>(json::integer(*stream, "bytes")),
                   static_cast<uint64_t>(json::integer(*stream, "missing")));
}

// `next` begins on a line of its own.
void line(std::string& text, std::string_view next) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += next;
}

std::string seconds(int64_t ms) {
  if (ms % 1000 == 0) return std::to_string(ms / 1000);
  std::string out = std::to_string(ms / 1000) + "." + std::to_string(ms % 1000 + 1000).substr(1);
  while (out.back() == '0') out.pop_back();
  return out;
}

// The value of a limit in the enforcement report, or 0.
int64_t limit(const json::object& enforcement, std::string_view rule) {
  const json::array* rules = json::list(enforcement, "rules");
  if (rules == nullptr) return 0;
  for (const json::value& one : *rules) {
    const json::object* o = one.if_object();
    if (o != nullptr && json::text(*o, "rule") == rule) return json::integer(*o, "value");
  }
  return 0;
}

// One denial for the model: what was refused, by which rule, what would help.
std::string denial(const json::value& v) {
  const json::object* o = v.if_object();
  if (o == nullptr)
    return v.is_string() ? "denied: " + std::string(json::view(v.get_string())) : "";
  std::string out = "denied: ";
  const std::string_view message = json::text(*o, "message");
  if (!message.empty()) {
    out += message;
  } else {
    out += json::text(*o, "resource", json::text(*o, "path", "something"));
    const std::string_view rule = json::text(*o, "rule");
    if (!rule.empty()) out += " by " + std::string(rule);
  }
  const std::string_view remedy = json::text(*o, "grant", json::text(*o, "remedy"));
  if (!remedy.empty()) out += " (would pass with " + std::string(remedy) + ")";
  return out;
}

json::object structured(const Outcome& o) {
  json::object out;
  out["exit_code"] = o.code ? json::value(*o.code) : json::value(nullptr);
  out["reason"] = o.reason;
  if (o.signal) out["signal"] = *o.signal;
  out["stdout"] = o.out.text();
  out["stderr"] = o.err.text();
  out["stdout_bytes"] = o.out.bytes();
  out["stderr_bytes"] = o.err.bytes();
  if (o.out.missing() > 0) out["stdout_missing"] = o.out.missing();
  if (o.err.missing() > 0) out["stderr_missing"] = o.err.missing();
  out["wall_ms"] = o.wall_ms;
  out["sandbox_id"] = o.sandbox;
  if (!o.denials.empty()) out["denials"] = o.denials;
  return out;
}

}  // namespace

std::string why_stopped(const Command& command, const Outcome& o) {
  if (o.reason == "code") return {};
  if (o.reason == "signal") {
    return "stopped: killed by signal " + std::to_string(o.signal.value_or(0));
  }
  if (o.reason == "time") {
    int64_t ms = command.timeout_ms;
    const int64_t profile = limit(o.enforcement, "limits.wall_ms");
    if (profile > 0 && (ms == 0 || profile < ms)) ms = profile;
    return "stopped: time limit of " + seconds(ms > 0 ? ms : o.wall_ms) + " s";
  }
  if (o.reason == "memory") {
    const int64_t bytes = limit(o.enforcement, "limits.memory_bytes");
    return bytes > 0 ? "stopped: memory limit of " + std::to_string(bytes >> 20) + " MiB"
                     : "stopped: memory limit";
  }
  if (o.reason == "output") return "stopped: output limit of the sandbox";
  if (o.reason == "policy") return "stopped: it tried what the sandbox forbids";
  if (o.reason == "stopped") return "stopped: somebody ended the command or its sandbox";
  if (o.reason == "lost") return "stopped: the sandbox ended under it";
  return "how it ended is not known";
}

sdk::Result<Outcome> run_command(sdk::Call& call, Command command) {
  Outcome outcome;
  const bool collected = !command.stream && !command.observe;
  if (collected) command.args["collect"] = true;
  if (command.timeout_ms > 0) command.args["timeout_ms"] = command.timeout_ms;
  sdk::Operation exec("sandbox.exec");
  exec.args(json::print(command.args));
  if (command.input) {
    exec.input(std::move(*command.input));
  } else {
    exec.pass_input();
  }
  exec.on_item([&](std::string_view item) -> sdk::Status {
    take_started(item, outcome);
    return {};
  });
  if (command.observe) {
    exec.on_output([&](int32_t stream, std::string_view data) -> sdk::Status {
      command.observe(stream, data);
      return {};
    });
  } else if (command.stream) {
    exec.on_output([&](int32_t stream, std::string_view data) {
      (stream == BH_STREAM_STDERR ? outcome.err : outcome.out).add(data);
      return call.emit(stream, data);
    });
  }
  auto result = exec.run(call);
  if (!result) return std::move(result).failure();
  auto object = json::parse_object(*result);
  if (!object) return std::move(object).failure();

  if (outcome.sandbox.empty()) outcome.sandbox = json::text(*object, "sandbox");
  if (outcome.exec.empty()) outcome.exec = json::text(*object, "exec");
  outcome.reason = "unknown";
  if (const json::object* exit = json::child(*object, "exit")) {
    outcome.reason = json::text(*exit, "reason", "unknown");
    outcome.code = number(*exit, "code");
    outcome.signal = number(*exit, "signal");
  }
  outcome.wall_ms = json::integer(*object, "wall_ms");
  outcome.output_open = json::boolean(*object, "output_open");
  outcome.leftovers = json::boolean(*object, "leftovers");
  if (const json::array* denials = json::list(*object, "denials")) outcome.denials = *denials;
  if (collected) {
    take_collected(*object, "stdout", outcome.out);
    take_collected(*object, "stderr", outcome.err);
  }
  return outcome;
}

sdk::ToolResult answer_output(const Command& command, const Outcome& o, Reports& reports) {
  std::string text = o.out.text();
  if (const std::string err = o.err.text(); !err.empty()) line(text, "[stderr] " + err);
  if (o.code && *o.code != 0) {
    line(text, "[exit code: " + std::to_string(*o.code) + "]");
    // Shells and the host alike say 127 for a program that is not there.
    if (*o.code == 127 && o.out.bytes() + o.err.bytes() == 0) {
      line(text, command.program + " was not found in the sandbox");
    }
  }
  if (const std::string why = why_stopped(command, o); !why.empty()) line(text, why);
  for (const json::value& one : o.denials) {
    if (const std::string what = denial(one); !what.empty()) line(text, what);
  }
  if (o.leftovers && !o.stopped()) line(text, "processes that the command left behind were ended");
  if (o.output_open) line(text, "something kept the output open when the command had ended");
  if (text.empty()) text = "(no output)";

  sdk::ToolResult result(text);
  result.structured(json::print(structured(o)));
  if (o.stopped()) result.error();
  if (!o.enforcement.empty() && reports.first(o.sandbox)) {
    json::object report = o.enforcement;
    if (!report.contains("backend")) report["backend"] = o.backend;
    result.meta(json::print(json::object{{"bulkhead/enforcement", std::move(report)}}));
  }
  return result;
}

}  // namespace toolset_sandbox
