// A regular expression of a schema, checked by RE2: linear time, little stack, no back-tracking.
// RE2 lives in libbulkhead_patterns.so, which is loaded with the first pattern
// (patterns/patterns.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace bh::schema {

class Pattern {
 public:
  // INVALID_ARGUMENT with RE2's own text, without a place; UNAVAILABLE with reason
  // patterns_unavailable when the library with RE2 cannot be loaded.
  static Result<std::unique_ptr<const Pattern>> compile(std::string_view text);

  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // [any] True when some part of `subject` matches.
  bool matches(std::string_view subject) const;
  const std::string& text() const { return text_; }

 private:
  Pattern(std::string text, void* compiled);

  std::string text_;
  void* compiled_;
};

}  // namespace bh::schema
