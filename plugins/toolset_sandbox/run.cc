// sandbox_run: one program with its arguments, without a shell.
#include <string>

#include "exec.h"

namespace toolset_sandbox {

namespace {

constexpr char kDescription[] =
    "Runs one program in the sandbox, without a shell: argv is the program and its arguments. For "
    "pipes and globs use sandbox_execute with language bash. Files in the workspace, in HOME and "
    "in "
    "/tmp are kept for the next call.";

constexpr char kInput[] = R"({
  "type":"object",
  "additionalProperties":false,
  "required":["argv"],
  "properties":{
    "argv":{"type":"array","minItems":1,"items":{"type":"string"},"description":"[\"ls\", \"-l\"]"},
    "cwd":{"type":"string","description":"Absolute; without it, the workspace."},
    "env":{"type":"object","additionalProperties":{"type":"string"}},
    "input":{"type":"string","description":"What it reads on stdin."},
    "timeout_seconds":{"type":"integer","minimum":1,"maximum":86400,"description":"Stops it after that time."},
    "stream":{"type":"boolean","description":"Also gives the output as it comes."},
    "sandbox_id":{"type":"string","description":"A sandbox that exists; without it, your own."}
  }
})";

// argv may come as the JSON text of the list, and absent things as null.
constexpr char kAccepts[] = R"({
  "type":"object",
  "additionalProperties":false,
  "required":["argv"],
  "properties":{
    "argv":{"type":["array","string"],"minItems":1,"minLength":1,"items":{"type":"string"}},
    "cwd":{"type":["string","null"]},
    "env":{"type":["object","null"],"additionalProperties":{"type":"string"}},
    "input":{"type":["string","null"]},
    "timeout_seconds":{"type":["number","null"],"exclusiveMinimum":0,"maximum":86400},
    "stream":{"type":["boolean","null"]},
    "sandbox_id":{"type":["string","null"]}
  }
})";

sdk::Result<json::array> argv_of(const json::object& args) {
  if (const json::array* list = json::list(args, "argv")) return *list;
  auto parsed = json::parse(json::text(args, "argv"));
  bool good = parsed.ok() && parsed->is_array() && !parsed->get_array().empty();
  if (good) {
    for (const json::value& one : parsed->get_array()) good = good && one.is_string();
  }
  if (!good) {
    return sdk::failure(BH_INVALID_ARGUMENT, "argv is a list of texts, not one text", "schema",
                        "/argv",
                        "send [\"ls\", \"-l\"]; for shell syntax use sandbox_execute with "
                        "language bash");
  }
  return std::move(parsed->get_array());
}

}  // namespace

sdk::Tool run_tool() {
  return sdk::Tool("sandbox_run")
      .title("Run a program")
      .description(kDescription)
      .input_schema(kInput)
      .accepts_schema(kAccepts)
      .output_schema(kOutcomeSchema)
      .read_only(false)
      .destructive(true)
      .idempotent(false)
      .open_world(true)
      .needs("sandbox.exec/1");
}

sdk::Result<sdk::ToolResult> run(sdk::Call& call, std::string_view text, Reports& reports) {
  auto args = json::parse_object(text);
  if (!args) return std::move(args).failure();
  auto argv = argv_of(*args);
  if (!argv) return std::move(argv).failure();
  Command command;
  command.program = std::string(json::view((*argv)[0].get_string()));
  command.args["argv"] = *std::move(argv);
  auto pass = [&](std::string_view from, std::string_view to) {
    const json::value* v = args->if_contains({from.data(), from.size()});
    if (v != nullptr && !v->is_null()) command.args[{to.data(), to.size()}] = *v;
  };
  pass("cwd", "cwd");
  pass("env", "env");
  pass("sandbox_id", "sandbox");
  if (const json::value* input = args->if_contains("input");
      input != nullptr && input->is_string()) {
    command.input = std::string(json::view(input->get_string()));
  }
  command.stream = json::boolean(*args, "stream");
  command.timeout_ms = timeout_ms(*args);
  auto outcome = run_command(call, command);
  if (!outcome) return std::move(outcome).failure();
  return answer(command, *outcome, reports);
}

}  // namespace toolset_sandbox
