#include "core/schema.h"

#include <utility>

#include "base/json.h"
#include "core/schema_check.h"
#include "core/schema_compile.h"
#include "core/schema_message.h"

namespace bh {

Schema::Schema(std::unique_ptr<const schema::Program> program) : program_(std::move(program)) {}

Schema::~Schema() = default;

Result<std::shared_ptr<const Schema>> Schema::compile(std::string_view json_text) {
  return compile(json_text, Options());
}

Result<std::shared_ptr<const Schema>> Schema::compile(std::string_view json_text,
                                                      const Options& options) {
  if (json_text.size() > schema::kMaxText) {
    return fail(BH_INVALID_ARGUMENT,
                "schema: larger than " + std::to_string(schema::kMaxText) + " bytes",
                "schema_limit", {{"field", ""}, {"remedy", "make it smaller"}});
  }
  auto parsed = json::parse(json_text);
  if (!parsed) return tl::unexpected(parsed.error().within("schema"));
  return compile_parsed(*parsed, options);
}

Result<std::shared_ptr<const Schema>> Schema::compile_parsed(const boost::json::value& parsed,
                                                             const Options& options) {
  auto program = schema::Compiler().run(parsed);
  if (!program) return tl::unexpected(std::move(program).error());
  (*program)->subject = options.subject;
  if (options.closed) schema::close_objects(**program);
  return std::shared_ptr<const Schema>(new Schema(std::move(*program)));
}

Result<void> Schema::check(const boost::json::value& v) const {
  schema::Violation violation;
  if (schema::satisfies(*program_, v, violation)) return {};
  return tl::unexpected(schema::describe(violation, program_->subject));
}

}  // namespace bh
