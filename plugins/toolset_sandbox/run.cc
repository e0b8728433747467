#include "run.h"

#include <utility>

#include "exec.h"

namespace toolset_sandbox {

sdk::Result<sdk::ToolResult> sandbox_run(Request& request) {
  const json::array& argv = request.args.at("argv").get_array();
  Command command;
  command.program = std::string(json::view(argv.at(0).get_string()));
  command.args["argv"] = argv;
  const auto pass = [&](const char* from, const char* to) {
    if (request.has(from)) command.args[to] = request.args.at(from);
  };
  pass("cwd", "cwd");
  pass("env", "env");
  pass("sandbox_id", "sandbox");
  if (request.has("input")) command.input = request.text("input");
  command.stream = json::boolean(request.args, "stream");
  if (request.has("timeout_seconds")) {
    auto timeout = milliseconds(request.args, "timeout_seconds", 0);
    if (!timeout) return std::move(timeout).failure();
    command.timeout_ms = *timeout;
  }
  auto outcome = run_command(request.call, command);
  if (!outcome) return std::move(outcome).failure();
  return answer_output(command, *outcome, request.shared.reports);
}

}  // namespace toolset_sandbox
