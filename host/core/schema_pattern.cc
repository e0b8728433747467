#include "core/schema_pattern.h"

#include <re2/re2.h>

#include <utility>

namespace bh::schema {

namespace {

// RE2 falls back to slower matching when its automaton does not fit; it never fails for it.
constexpr std::int64_t kMaxMemory = 1 << 20;

RE2::Options options() {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxMemory);
  return options;
}

}  // namespace

struct Pattern::Engine {
  explicit Engine(const std::string& text) : re(text, options()) {}
  RE2 re;
};

Pattern::Pattern(std::string text, std::unique_ptr<Engine> engine)
    : text_(std::move(text)), engine_(std::move(engine)) {}

Pattern::~Pattern() = default;

Result<std::unique_ptr<const Pattern>> Pattern::compile(std::string_view text) {
  std::string copy(text);
  auto engine = std::make_unique<Engine>(copy);
  if (!engine->re.ok()) return fail(BH_INVALID_ARGUMENT, engine->re.error());
  return std::unique_ptr<const Pattern>(new Pattern(std::move(copy), std::move(engine)));
}

bool Pattern::matches(std::string_view subject) const {
  return RE2::PartialMatch(re2::StringPiece(subject.data(), subject.size()), engine_->re);
}

}  // namespace bh::schema
