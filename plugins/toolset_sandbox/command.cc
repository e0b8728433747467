#include "command.h"

#include <utility>

#include "exec.h"
#include "lifecycle.h"
#include "lines.h"

namespace toolset_sandbox {

namespace {

// The kernel takes no longer argument; a longer script is read from a descriptor.
constexpr size_t kLongestArgument = 120 * 1024;

// Bash where the sandbox has it, as upstream does it. The script is an argument, so no character in
// it means anything to the shell that chooses.
constexpr char kByArgument[] =
    R"(if command -v bash >/dev/null 2>&1; then exec bash -c "$1"; else exec sh -c "$1"; fi)";
constexpr char kByInput[] =
    "exec 3<&0 </dev/null\n"
    "if command -v bash >/dev/null 2>&1; then exec bash /dev/fd/3; else exec sh /dev/fd/3; fi";

// "signal: killed", as Go's runtime says it.
std::string signal_words(int64_t number) {
  switch (number) {
    case 2:
      return "signal: interrupt";
    case 3:
      return "signal: quit";
    case 6:
      return "signal: aborted";
    case 9:
      return "signal: killed";
    case 11:
      return "signal: segmentation fault";
    case 13:
      return "signal: broken pipe";
    case 15:
      return "signal: terminated";
    default:
      return "signal: signal " + std::to_string(number);
  }
}

json::object execution(const std::string& id) {
  json::object out;
  out["id"] = id;
  out["execution_count"] = nullptr;
  out["result"] = json::array();
  out["error"] = nullptr;
  out["complete"] = nullptr;
  out["exit_code"] = nullptr;
  out["logs"] = json::object{{"stdout", json::array()}, {"stderr", json::array()}};
  return out;
}

json::object complete(int64_t wall_ms) {
  return {{"timestamp", now_ms()}, {"execution_time_in_millis", wall_ms}};
}

json::object error_of(const Command& command, const Outcome& outcome) {
  json::array traceback;
  int64_t code = -1;
  if (outcome.code) {
    code = *outcome.code;
    traceback.emplace_back("exit status " + std::to_string(code));
  } else {
    traceback.emplace_back(signal_words(outcome.signal.value_or(9)));
    // Upstream ends here; which limit it was is worth knowing.
    if (outcome.reason != "signal") traceback.emplace_back(why_stopped(command, outcome));
  }
  return {{"name", "CommandExecError"},
          {"value", std::to_string(code)},
          {"timestamp", now_ms()},
          {"traceback", std::move(traceback)}};
}

// What both ways of running take from the arguments.
sdk::Result<json::object> common_args(const Request& request, const std::string& id) {
  json::object out{{"sandbox", id}};
  if (request.has("working_directory")) out["cwd"] = request.text("working_directory");
  if (request.has("env")) out["env"] = request.args.at("env");
  if (request.has("timeout_seconds")) {
    auto timeout = milliseconds(request.args, "timeout_seconds", 0);
    if (!timeout) return std::move(timeout).failure();
    out["timeout_ms"] = *timeout;
  }
  return out;
}

sdk::Result<sdk::ToolResult> in_background(Request& request, json::object args) {
  auto started = operate(request.call, "job.start", args);
  if (!started) return std::move(started).failure();
  json::object out = execution(std::string(json::text(*started, "job")));
  out["complete"] = complete(0);
  return answer(out);
}

}  // namespace

sdk::Result<sdk::ToolResult> command_run(Request& request) {
  const std::string script = request.text("command");
  if (script.find_first_not_of(" \t\r\n") == std::string::npos) {
    return wrong("command is blank", "/command");
  }
  if (script.find('\0') != std::string::npos) {
    return wrong("command holds a NUL character, which no command can", "/command");
  }
  const bool background = json::boolean(request.args, "background");
  const bool fits = script.size() <= kLongestArgument;
  if (background && !fits) {
    return wrong("command is longer than 120 KiB, which a background command may not be",
                 "/command", "write it into a file and run that");
  }
  auto id = known_sandbox(request);
  if (!id) return std::move(id).failure();
  auto args = common_args(request, *id);
  if (!args) return std::move(args).failure();
  Command command;
  command.args = *std::move(args);
  command.timeout_ms = json::integer(command.args, "timeout_ms");
  command.args["argv"] = fits ? json::array{"/bin/sh", "-c", kByArgument, "sh", script}
                              : json::array{"/bin/sh", "-c", kByInput};
  if (background) return in_background(request, std::move(command.args));

  command.input = fits ? std::string() : script;
  Lines out(false);
  Lines err(true);
  command.observe = [&](int32_t stream, std::string_view data) {
    (stream == BH_STREAM_STDERR ? err : out).add(data, now_ms());
  };
  auto outcome = run_command(request.call, command);
  if (!outcome) return std::move(outcome).failure();
  out.end(now_ms());
  err.end(now_ms());

  json::object told = execution(outcome->exec);
  told["logs"] = json::object{{"stdout", out.messages()}, {"stderr", err.messages()}};
  if (outcome->code && *outcome->code == 0) {
    told["complete"] = complete(outcome->wall_ms);
    told["exit_code"] = 0;
  } else {
    told["error"] = error_of(command, *outcome);
    told["exit_code"] = outcome->code.value_or(-1);
  }
  auto result = answer(told);
  if (result && !outcome->denials.empty()) {
    result->meta(json::print(json::object{{"bulkhead/denials", outcome->denials}}));
  }
  return result;
}

sdk::Result<sdk::ToolResult> command_interrupt(Request& request) {
  auto id = known_sandbox(request);
  if (!id) return std::move(id).failure();
  auto ended = operate(request.call, "sandbox.interrupt",
                       {{"sandbox", *id}, {"exec", request.text("execution_id")}});
  if (!ended) return std::move(ended).failure();
  return answer_status("interrupted");
}

}  // namespace toolset_sandbox
