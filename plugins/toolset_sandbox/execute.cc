// sandbox_execute: a piece of code in one of three languages, under the name and with the answer
// that Nous documents.
#include <string>

#include "exec.h"

namespace toolset_sandbox {

namespace {

constexpr char kDescription[] =
    "Runs a piece of code in the sandbox and gives what it printed. Files in the workspace, in "
    "HOME "
    "and in /tmp are kept for the next call; variables are not. Answers with stdout, then "
    "\"[stderr] ...\", then \"[exit code: N]\" if that is not 0.";

constexpr char kInput[] = R"({
  "type":"object",
  "additionalProperties":false,
  "required":["code"],
  "properties":{
    "code":{"type":"string","description":"The program's text."},
    "language":{"type":"string","enum":["python","javascript","bash"],"default":"python"},
    "session_id":{"type":"string","description":"The id of a sandbox that exists; without it, your own."},
    "timeout_seconds":{"type":"integer","minimum":1,"maximum":86400,"description":"Stops it after that time."}
  }
})";

// What callers of the older tool send as well; refused below with the reason, not by the schema.
constexpr char kAccepts[] = R"({
  "type":"object",
  "additionalProperties":false,
  "required":["code"],
  "properties":{
    "code":{"type":"string"},
    "language":{"type":"string","enum":["python","python3","py","javascript","js","node","bash","sh","shell","go","rust"]},
    "session_id":{"type":["string","null"]},
    "libraries":{"type":["array","null"],"items":{"type":"string"}},
    "timeout_seconds":{"type":["number","null"],"exclusiveMinimum":0,"maximum":86400}
  }
})";

// How an interpreter takes a program of any length without a shell between: on its stdin. Bash is
// the exception, because commands of the script would read the rest of the script as their input;
// it gets the text as one argument, unless that is longer than the kernel takes.
constexpr size_t kLongestArgument = 120 * 1024;

sdk::Status choose(std::string_view language, std::string_view code, Command& command) {
  json::array argv;
  if (language == "python" || language == "python3" || language == "py") {
    argv = {"python3", "-u", "-"};  // -u: what was printed before a time limit is not lost
    command.input = std::string(code);
  } else if (language == "javascript" || language == "js" || language == "node") {
    argv = {"node", "-"};
    command.input = std::string(code);
  } else if (language == "bash" || language == "sh" || language == "shell") {
    const bool fits = code.size() <= kLongestArgument && code.find('\0') == std::string_view::npos;
    if (fits) {
      argv = {"bash", "-c", json::value(boost::json::string_view(code.data(), code.size()))};
    } else {
      argv = {"bash", "-s"};
      command.input = std::string(code);
    }
  } else {
    return sdk::failure(
        BH_INVALID_ARGUMENT,
        std::string(language) + " is compiled, and this tool only runs interpreters", "language",
        "/language", "write the file with language bash, then compile and run it with sandbox_run");
  }
  command.program = std::string(json::view(argv[0].get_string()));
  command.args["argv"] = std::move(argv);
  return {};
}

}  // namespace

sdk::Tool execute_tool() {
  return sdk::Tool("sandbox_execute")
      .title("Run code")
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

sdk::Result<sdk::ToolResult> execute(sdk::Call& call, std::string_view text, Reports& reports) {
  auto args = json::parse_object(text);
  if (!args) return std::move(args).failure();
  if (const json::array* libraries = json::list(*args, "libraries");
      libraries != nullptr && !libraries->empty()) {
    return sdk::failure(BH_INVALID_ARGUMENT, "this tool installs no libraries", "libraries",
                        "/libraries",
                        "leave libraries out; where the sandbox has a network, install them with "
                        "sandbox_run, for example [\"pip\", \"install\", \"--user\", \"NAME\"]");
  }
  Command command;
  command.input = std::string();  // the code is all that it reads
  const std::string_view language = json::text(*args, "language", "python");
  if (auto st = choose(language, json::text(*args, "code"), command); !st) {
    return std::move(st).failure();
  }
  if (const auto sandbox = json::text(*args, "session_id"); !sandbox.empty()) {
    command.args["sandbox"] = boost::json::string_view(sandbox.data(), sandbox.size());
  }
  command.timeout_ms = timeout_ms(*args);
  auto outcome = run_command(call, command);
  if (!outcome) return std::move(outcome).failure();
  return answer(command, *outcome, reports);
}

}  // namespace toolset_sandbox
