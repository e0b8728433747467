#include "core/patterns/patterns.h"

#include <re2/re2.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace {

// RE2 falls back to slower matching when its automaton does not fit; it never fails for it.
constexpr std::int64_t kMaxMemory = 1 << 20;

void* compile(const char* text, std::size_t size, char* error, std::size_t capacity) {
  try {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kMaxMemory);
    auto pattern = std::make_unique<RE2>(std::string(text, size), options);
    if (pattern->ok()) return pattern.release();
    std::snprintf(error, capacity, "%s", pattern->error().c_str());
  } catch (const std::exception& what) {
    std::snprintf(error, capacity, "%s", what.what());
  }
  return nullptr;
}

bool matches(const void* pattern, const char* text, std::size_t size) {
  return RE2::PartialMatch(re2::StringPiece(text, size), *static_cast<const RE2*>(pattern));
}

void drop(void* pattern) { delete static_cast<RE2*>(pattern); }

constexpr bulkhead_patterns kPatterns = {compile, matches, drop};

}  // namespace

extern "C" __attribute__((visibility("default"))) const bulkhead_patterns* bulkhead_patterns_v1() {
  return &kPatterns;
}
