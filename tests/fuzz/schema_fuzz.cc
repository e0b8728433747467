// A schema (up to the first line break) and a value (the rest): the schema is compiled or refused
// with a sentence, and what was compiled checks any value.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "core/schema.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = text.find('\n');
  if (end == text.npos) return 0;
  bh::Schema::Options options;
  options.closed = size % 2 == 0;
  auto schema = bh::Schema::compile(text.substr(0, end), options);
  if (!schema) {
    if (schema.error().message.empty()) std::abort();
    return 0;
  }
  auto value = bh::json::parse(text.substr(end + 1));
  if (!value) return 0;
  auto checked = (*schema)->check(*value);
  if (!checked && checked.error().message.empty()) std::abort();
  return 0;
}
