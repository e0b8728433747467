#include "cli/exits.h"

#include <signal.h>

#include <algorithm>

#include "cli/json.h"
#include "cli/text.h"

namespace bh::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxDenials = 5;

int by_signal(const json::object& end, int otherwise) {
  return kExitSignal + static_cast<int>(int_at(end, "signal", otherwise));
}

std::string denial_text(const json::object& denial) {
  std::string text = string_at(denial, "message");
  if (!text.empty()) return text;
  for (const char* key : {"operation", "resource", "path", "rule", "reason"}) {
    std::string value = string_at(denial, key);
    if (!value.empty()) text += (text.empty() ? "" : ", ") + value;
  }
  return text;
}

// Only of a command that failed: one that did not has coped with what was refused.
void add_denials(const json::object& result, Exit& exit) {
  const json::array& denials = array_at(result, "denials");
  for (std::size_t i = 0; i < std::min(denials.size(), kMaxDenials); ++i) {
    if (!denials[i].is_object()) continue;
    const json::object& denial = denials[i].get_object();
    std::string text = denial_text(denial);
    if (text.empty()) continue;
    exit.notes.push_back(Problem{"refused: " + text, string_at(denial, "remedy")});
  }
  if (denials.size() > kMaxDenials) {
    exit.notes.push_back(
        Problem{"refused: " + std::to_string(denials.size() - kMaxDenials) + " more", {}});
  }
}

}  // namespace

Exit exit_of(const json::object& result, std::optional<std::int64_t> timeout_ms, int passed_on) {
  const json::object& end = object_at(result, "exit");
  std::string reason = string_at(end, "reason");
  Exit exit;
  auto note = [&](std::string message, std::string remedy) {
    exit.notes.push_back(Problem{std::move(message), std::move(remedy)});
  };
  if (reason == "code") {
    exit.code = static_cast<int>(int_at(end, "code", kExitOurs)) & 255;
  } else if (reason == "signal") {
    exit.code = by_signal(end, SIGKILL);
  } else if (reason == "time") {
    exit.code = kExitTimeLimit;
    note("stopped after " + duration_text(timeout_ms.value_or(int_at(result, "wall_ms"))),
         "time limit; --timeout S raises it");
  } else if (reason == "memory") {
    exit.code = by_signal(end, SIGKILL);
    std::int64_t peak = int_at(result, "peak_bytes");
    note("stopped for want of memory" + (peak > 0 ? " at " + bytes_text(peak) : std::string()),
         "memory limit; limits.memory_bytes in --profile or the config file's defaults raises it");
  } else if (reason == "output") {
    exit.code = by_signal(end, SIGKILL);
    std::int64_t bytes = int_at(result, "stdout_bytes") + int_at(result, "stderr_bytes");
    note("stopped after " + bytes_text(bytes) + " of output",
         "output limit; limits.output_bytes in --profile raises it");
  } else if (reason == "policy") {
    note("stopped by the policy", "the refusals name the rule");
  } else if (reason == "stopped" && passed_on != 0) {
    exit.code = by_signal(end, passed_on);
  } else if (reason == "stopped") {
    note("stopped from outside, with its sandbox", "");
  } else if (reason == "lost") {
    note("the command was lost with its sandbox, how it ended is not known",
         "`bulkhead doctor` checks the backend");
  } else {
    note("how the command ended is not known", "`bulkhead doctor` checks the backend");
  }
  if (bool_at(result, "output_open")) {
    note("something that the command left running still held its output, which may be cut short",
         "");
  }
  if (exit.code != 0) add_denials(result, exit);
  return exit;
}

}  // namespace bh::cli
