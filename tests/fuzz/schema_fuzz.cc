// First line: a schema; the rest: a value. A schema compiles or is refused with a reason; a value
// is taken or refused at a place that it has, the same way each time; decoding texts never fails.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "core/coerce.h"
#include "core/schema.h"

namespace {

bh::json::object details_of(const bh::Error& error) {
  auto details = bh::json::parse_object(error.details);
  if (!details || error.message.empty()) std::abort();
  if (bh::json::get_string(*details, "reason").empty()) std::abort();
  return *details;
}

void check(const bh::Schema& schema, const bh::json::value& value) {
  const auto once = schema.check(value);
  const auto again = schema.check(value);
  if (once.has_value() != again.has_value()) std::abort();
  if (once) return;
  if (once.error().message != again.error().message) std::abort();
  const auto details = details_of(once.error());
  // The field is the value's own, but for one that is missing.
  if (bh::json::get_string(details, "keyword") == "required") return;
  boost::json::error_code ec;
  if (value.find_pointer(bh::json::get_string(details, "field"), ec) == nullptr) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = input.find('\n');
  if (line == input.npos) return 0;
  const auto value = bh::json::parse(input.substr(line + 1));
  for (const bool closed : {false, true}) {
    auto schema = bh::Schema::compile(input.substr(0, line), {.closed = closed});
    if (!schema) {
      details_of(schema.error());
      continue;
    }
    if (!value) continue;
    check(**schema, *value);
    check(**schema, bh::coerce(*value, **schema));
  }
  return 0;
}
