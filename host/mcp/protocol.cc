#include "mcp/protocol.h"

#include <array>
#include <cstddef>

namespace bh::mcp {
namespace {

constexpr std::array<std::string_view, 5> revisions = {"2024-10-07", "2024-11-05", "2025-03-26",
                                                       "2025-06-18", "2025-11-25"};
constexpr std::array<std::string_view, 8> levels = {"debug", "info",     "notice", "warning",
                                                    "error", "critical", "alert",  "emergency"};
template <class E, size_t N>
std::optional<E> find(const std::array<std::string_view, N>& words, std::string_view text) {
  for (size_t i = 0; i < N; ++i)
    if (words[i] == text) return static_cast<E>(i);
  return std::nullopt;
}

}  // namespace

std::string_view revision_text(Revision r) { return revisions[static_cast<size_t>(r)]; }
std::optional<Revision> revision_of(std::string_view text) {
  return find<Revision>(revisions, text);
}

std::string_view log_level_text(LogLevel l) { return levels[static_cast<size_t>(l)]; }
std::optional<LogLevel> log_level_of(std::string_view text) { return find<LogLevel>(levels, text); }

std::string_view host_level_of(LogLevel l) {
  switch (l) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
    case LogLevel::notice:
      return "info";
    case LogLevel::warning:
      return "warn";
    default:
      return "error";
  }
}

LogLevel log_level_of_host(std::string_view text) {
  if (text == "trace" || text == "debug") return LogLevel::debug;
  if (text == "info") return LogLevel::info;
  if (text == "warn" || text == "warning") return LogLevel::warning;
  // Also what the two sides blame each other for (host_misuse, plugin_misuse), and unknown words.
  return LogLevel::error;
}

}  // namespace bh::mcp
