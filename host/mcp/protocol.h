// The words of MCP: its revisions and what each of them knows, error codes, log levels.
#pragma once

#include <bulkhead/host.h>

#include <optional>
#include <string_view>

namespace bh::mcp {

// In the order of their dates, so that "since" is a comparison.
enum class Revision { v2024_10_07, v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25 };

constexpr Revision newest_revision = Revision::v2025_11_25;

std::string_view revision_text(Revision r);
std::optional<Revision> revision_of(std::string_view text);

// What a client of that revision understands. Nothing else is sent to it.
struct Features {
  explicit Features(Revision r)
      : batches(r == Revision::v2025_03_26),
        tool_annotations(r >= Revision::v2025_03_26),
        audio(r >= Revision::v2025_03_26),
        progress_message(r >= Revision::v2025_03_26),
        titles(r >= Revision::v2025_06_18),
        structured(r >= Revision::v2025_06_18),
        resource_links(r >= Revision::v2025_06_18) {}
  bool batches;
  bool tool_annotations;
  bool audio;
  bool progress_message;
  bool titles;
  bool structured;
  bool resource_links;
};

namespace error {
constexpr int parse = -32700;
constexpr int invalid_request = -32600;
constexpr int method_not_found = -32601;
constexpr int invalid_params = -32602;
constexpr int internal = -32603;
}  // namespace error

// The levels of RFC 5424, as logging/setLevel names them.
enum class LogLevel { debug, info, notice, warning, error, critical, alert, emergency };

std::string_view log_level_text(LogLevel l);
std::optional<LogLevel> log_level_of(std::string_view text);
// The host's words are coarser: what to ask log.follow for, and what one of its records is.
std::string_view host_level_of(LogLevel l);
LogLevel log_level_of_host(std::string_view text);

}  // namespace bh::mcp
