// First line: a driver's schema; the rest: a profile. What is kept lists no further rule to take
// out, and nothing changes where nothing is taken out.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "core/driver_schema.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = input.find('\n');
  if (line == input.npos) return 0;
  auto schema = bh::DriverSchema::compile(input.substr(0, line), "profile");
  if (!schema) {
    if (schema.error().message.empty() || schema.error().details.empty()) std::abort();
    return 0;
  }
  const auto profile = bh::json::parse(input.substr(line + 1));
  if (!profile) return 0;
  const auto first = schema->split(*profile);
  if (first.unlisted.empty() && first.kept != *profile) std::abort();
  for (const std::string& rule : first.unlisted) {
    if (first.kept == *profile) std::abort();
    (void)rule;
  }
  const auto second = schema->split(first.kept);
  if (!second.unlisted.empty() || second.kept != first.kept) std::abort();
  (void)schema->check(first.kept);
  return 0;
}
