#include "execute.h"

#include <utility>

#include "exec.h"
#include "packages.h"

namespace toolset_sandbox {

namespace {

// How an interpreter takes a program of any length without a shell between: on its stdin. Bash is
// the exception, because commands of the script would read the rest of the script as their input;
// it gets the text as one argument, unless that is longer than the kernel takes.
constexpr size_t kLongestCode = 120 * 1024;

sdk::Status choose(std::string_view language, std::string_view code, Command& command) {
  json::array argv;
  if (language == "python" || language == "python3" || language == "py") {
    argv = {"python3", "-u", "-"};  // -u: what was printed before a time limit is not lost
    command.input = std::string(code);
  } else if (language == "javascript" || language == "js" || language == "node") {
    argv = {"node", "-"};
    command.input = std::string(code);
  } else if (language == "bash" || language == "sh" || language == "shell") {
    const bool fits = code.size() <= kLongestCode && code.find('\0') == std::string_view::npos;
    if (fits) {
      argv = {"bash", "-c", std::string(code)};
    } else {
      argv = {"bash", "-s"};
      command.input = std::string(code);
    }
  } else {
    return sdk::failure(
        BH_INVALID_ARGUMENT,
        std::string(language) + " is compiled, and this tool only runs interpreters", "language",
        "/language", "write the file with language bash, then compile and run it there");
  }
  command.program = std::string(json::view(argv[0].get_string()));
  command.args["argv"] = with_packages(argv);
  return {};
}

// What the code needs, installed for its language first.
sdk::Status install_libraries(Request& request, std::string_view language,
                              const std::string& sandbox) {
  const json::array* libraries = json::list(request.args, "libraries");
  if (libraries == nullptr || libraries->empty()) return {};
  const bool python = language.substr(0, 2) == "py";
  const bool javascript = language == "javascript" || language == "js" || language == "node";
  if (!python && !javascript) {
    return sdk::failure(BH_INVALID_ARGUMENT, "libraries are for Python and JavaScript", "libraries",
                        "/libraries", "leave them out");
  }
  auto done =
      install_packages(request, *libraries, python ? "pip" : "npm", sandbox, "/libraries");
  if (!done) return std::move(done).failure();
  if (done->ok) return {};
  return sdk::failure(BH_FAILED_PRECONDITION, "the libraries cannot be installed: " + done->output,
                      "libraries", "/libraries");
}

}  // namespace

sdk::Result<sdk::ToolResult> sandbox_execute(Request& request) {
  Command command;
  command.input = std::string();  // the code is all that it reads
  const std::string_view language = json::text(request.args, "language", "python");
  if (auto st = choose(language, json::text(request.args, "code"), command); !st) {
    return std::move(st).failure();
  }
  const std::string sandbox = request.text("session_id");
  if (!sandbox.empty()) command.args["sandbox"] = sandbox;
  if (request.has("timeout_seconds")) {
    auto timeout = milliseconds(request.args, "timeout_seconds", 0);
    if (!timeout) return std::move(timeout).failure();
    command.timeout_ms = *timeout;
  }
  if (auto st = install_libraries(request, language, sandbox); !st) return std::move(st).failure();
  auto outcome = run_command(request.call, command);
  if (!outcome) return std::move(outcome).failure();
  return answer_output(command, *outcome, request.shared.reports);
}

}  // namespace toolset_sandbox
