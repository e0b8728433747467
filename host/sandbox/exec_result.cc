#include "sandbox/exec_result.h"

namespace bh {

bh_exit fresh_exit() {
  bh_exit out{};
  out.struct_size = sizeof out;
  out.reason = BH_EXIT_UNKNOWN;
  out.exit_code = -1;
  out.cpu_ns = -1;
  out.peak_bytes = -1;
  return out;
}

std::string_view exit_reason(std::int32_t reason) {
  switch (reason) {
    case BH_EXIT_CODE:
      return "code";
    case BH_EXIT_SIGNAL:
      return "signal";
    case BH_EXIT_MEMORY:
      return "memory";
    case BH_EXIT_TIME:
      return "time";
    case BH_EXIT_OUTPUT:
      return "output";
    case BH_EXIT_POLICY:
      return "policy";
    case BH_EXIT_STOPPED:
      return "stopped";
    case BH_EXIT_LOST:
      return "lost";
    default:
      return "unknown";
  }
}

json::object exit_members(const bh_exit& exit) {
  auto known = [](std::int64_t value, std::int64_t divisor) {
    return value < 0 ? json::value(nullptr) : json::value(value / divisor);
  };
  json::object how;
  how["reason"] = json::string(exit_reason(exit.reason));
  how["code"] = exit.exit_code < 0 ? json::value(nullptr) : json::value(exit.exit_code);
  how["signal"] = exit.signal == 0 ? json::value(nullptr) : json::value(exit.signal);
  json::object out;
  out["exit"] = std::move(how);
  out["output_open"] = (exit.flags & BH_EXITED_OUTPUT_OPEN) != 0;
  out["leftovers"] = (exit.flags & BH_EXITED_LEFTOVERS) != 0;
  out["wall_ms"] = known(exit.wall_ns, 1'000'000);
  out["cpu_ms"] = known(exit.cpu_ns, 1'000'000);
  out["peak_bytes"] = known(exit.peak_bytes, 1);
  return out;
}

}  // namespace bh
