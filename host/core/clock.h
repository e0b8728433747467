// Time as the host counts it.
#pragma once

#include <chrono>
#include <cstdint>

namespace bh {

inline constexpr std::int64_t kNoLimit = INT64_MAX;
inline constexpr std::int64_t kSecond = 1'000'000'000;

// CLOCK_MONOTONIC in nanoseconds.
inline std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Unix time in nanoseconds.
inline std::int64_t wall_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace bh
