// Running one command through sandbox.exec, and saying how it ended.
#pragma once

#include <bulkhead/sdk.hpp>
#include <bulkhead/sdk/json.hpp>
#include <functional>
#include <optional>
#include <string>

#include "output.h"
#include "tools.h"

namespace toolset_sandbox {

struct Command {
  json::object args;                 // of sandbox.exec; "collect" is added here
  std::optional<std::string> input;  // without it, the tool's own input is the command's
  bool stream = false;               // its output also goes to the tool's caller as it comes
  // Gets the output as it comes, one call at a time; then nothing of it is kept in the outcome.
  std::function<void(int32_t stream, std::string_view data)> observe;
  int64_t timeout_ms = 0;            // 0: the sandbox's own limit
  std::string program;               // for the sentence that it is missing
};

// How a command ended. `reason` is sandbox.exec's word.
struct Outcome {
  std::string sandbox;
  std::string exec;
  std::string backend;
  std::string reason;
  std::optional<int64_t> code;
  std::optional<int64_t> signal;
  int64_t wall_ms = 0;
  bool output_open = false;
  bool leftovers = false;
  Output out;
  Output err;
  json::array denials;
  json::object enforcement;

  // The end was not the command's own doing, so the tool failed.
  bool stopped() const { return reason != "code"; }
};

// Why it was stopped, for the model; empty where it ended by itself.
std::string why_stopped(const Command& command, const Outcome& outcome);

// Runs it to its end. A failure means that it did not run, or that its fate is unknown. [blocking]
sdk::Result<Outcome> run_command(sdk::Call& call, Command command);

// What to tell the model: the output, the exit code, and a sentence for each limit and denial.
sdk::ToolResult answer_output(const Command& command, const Outcome& outcome, Reports& reports);

// The output schema of the tools that answer so.
extern const char kOutcomeSchema[];

}  // namespace toolset_sandbox
