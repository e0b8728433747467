#include "loader/driver_schema.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace bh {
namespace {

constexpr std::array<std::string_view, 22> kAllowed = {"type",
                                                       "properties",
                                                       "required",
                                                       "additionalProperties",
                                                       "items",
                                                       "enum",
                                                       "const",
                                                       "minimum",
                                                       "maximum",
                                                       "pattern",
                                                       "exclusiveMinimum",
                                                       "minLength",
                                                       "maxLength",
                                                       "minItems",
                                                       "maxItems",
                                                       "title",
                                                       "description",
                                                       "default",
                                                       "examples",
                                                       "deprecated",
                                                       "$comment",
                                                       "$schema"};

Failure unsupported(const std::string& where, std::string_view keyword) {
  const std::string field = where + "/" + std::string(keyword);
  return fail(
      BH_INVALID_ARGUMENT,
      "\"" + std::string(keyword) + "\" at " + (where.empty() ? "/" : where) +
          " is not a keyword that a plugin's schema may use",
      "schema_unsupported",
      {{"field", field}, {"remedy", "write it with the keywords that abi/README.md lists"}});
}

Result<void> visit(const boost::json::value& value, const std::string& where) {
  // true and false are schemas as well; all else that is no object the compiler refuses.
  if (!value.is_object()) return {};
  for (const auto& member : value.get_object()) {
    const std::string_view keyword = member.key();
    if (std::find(kAllowed.begin(), kAllowed.end(), keyword) == kAllowed.end()) {
      return unsupported(where, keyword);
    }
    const std::string place = where + "/" + std::string(keyword);
    if (keyword == "items" || keyword == "additionalProperties") {
      BH_TRY(visit(member.value(), place));
    } else if (keyword == "properties" && member.value().is_object()) {
      for (const auto& property : member.value().get_object()) {
        BH_TRY(visit(property.value(), place + "/" + std::string(property.key())));
      }
    }
  }
  return {};
}

}  // namespace

Result<void> check_driver_schema(const boost::json::object& schema) {
  return visit(boost::json::value(schema), "");
}

}  // namespace bh
