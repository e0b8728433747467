// The schema of a driver's own making (profile_schema, exec_schema): which keys of a profile or of
// exec's options this driver understands. What an older driver does not understand is never dropped
// unseen: the host takes it out, reports it as unsupported, and refuses where it is required.
//
// So that "listed" means something, such a schema is plain: type, properties, required, items,
// enum and bounds. $ref, allOf, anyOf, oneOf, not, if, contains, patternProperties, propertyNames
// and an additionalProperties that takes everything are refused.
#pragma once

#include <boost/json/value.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/schema.h"

namespace bh {

class DriverSchema {
 public:
  // INVALID_ARGUMENT as Schema::compile, and for forms that are not plain. `subject` starts the
  // messages of check(): "profile", "exec options".
  static Result<DriverSchema> compile(std::string_view json_text, std::string_view subject);
  static Result<DriverSchema> compile_parsed(const boost::json::value& parsed,
                                             std::string_view subject);

  struct Split {
    boost::json::value kept;  // the listed part
    // Names of the rules taken out: the dotted path of each key that holds no object
    // (limits.memory_bytes); an entry of a list of objects by its path (files:/home/u/.ssh), else
    // by its index (files:3). An entry goes as a whole when a key in it is not listed.
    std::vector<std::string> unlisted;
  };

  // [any] Never fails; a value that is no object is kept as it is.
  Split split(const boost::json::value& value) const;

  // [any] The values of what is left: an enum that lacks one is an error, not a rule taken out.
  Result<void> check(const boost::json::value& kept) const { return schema_->check(kept); }

 private:
  explicit DriverSchema(std::shared_ptr<const Schema> schema) : schema_(std::move(schema)) {}

  std::shared_ptr<const Schema> schema_;
};

}  // namespace bh
