// A JSON Schema, compiled once and checked many times.
//
// Everything that a schema says is enforced, or the schema is refused when it is compiled, with the
// keyword's name and place. The engine is our own: valijson 1.0 passes several keywords in silence,
// runs patterns through std::regex (which overflows a 1 MiB stack), takes 1.0 for no integer and
// compares 64-bit numbers as doubles. tests/host/core/referee/ holds the two against each other
// where they must agree.
//
// Enforced: type enum const · minimum maximum exclusiveMinimum exclusiveMaximum multipleOf ·
//   minLength maxLength pattern · items minItems maxItems uniqueItems contains · properties
//   required additionalProperties patternProperties propertyNames minProperties maxProperties ·
//   allOf anyOf oneOf not if/then/else · $ref to a place in the same document.
// Annotations, without effect: title description default examples deprecated readOnly writeOnly
//   format $comment $schema (drafts 6, 7, 2019-09, 2020-12), $id at the root, and x-….
// Refused by name: everything else, and keywords beside $ref, whose meaning differs between drafts.
//
// Patterns are RE2's: no look-around, no back references; a text matches where any part of it does.
#pragma once

#include <boost/json/value.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace bh {

namespace schema {
struct Program;
}

class Schema {
 public:
  struct Options {
    // Refuse keys that an object's schema does not list, where it lists some and says nothing of
    // others (no additionalProperties). Branches of allOf, anyOf, oneOf and if count as one object.
    bool closed = false;
    // What the value is to its reader: "arguments", "config", "profile". Messages start with it.
    std::string_view subject = "arguments";
  };

  // INVALID_ARGUMENT with reason schema_unsupported (a keyword or form that is not enforced),
  // schema_invalid (a keyword used wrongly) or schema_limit; details name "field" (a JSON pointer
  // into the schema), "keyword" and "remedy". Text that is not JSON fails as json::parse does.
  static Result<std::shared_ptr<const Schema>> compile(std::string_view json_text,
                                                       const Options& options);
  static Result<std::shared_ptr<const Schema>> compile(std::string_view json_text);

  // The same from a parsed schema, which is not kept.
  static Result<std::shared_ptr<const Schema>> compile_parsed(const boost::json::value& parsed,
                                                              const Options& options);

  ~Schema();
  Schema(const Schema&) = delete;
  Schema& operator=(const Schema&) = delete;

  // [any] INVALID_ARGUMENT with details {"reason":"schema","field":JSON pointer into the value,
  // "keyword","remedy"}; the first violation is told, in one sentence. A value that needs more work
  // than is reasonable (nested beyond 400 steps, combinations without end) fails the same way with
  // reason schema_limit and keyword "limit".
  Result<void> check(const boost::json::value& v) const;

  // For the files of core/schema_*: the compiled form.
  const schema::Program& program() const { return *program_; }

 private:
  explicit Schema(std::unique_ptr<const schema::Program> program);

  std::unique_ptr<const schema::Program> program_;
};

}  // namespace bh
