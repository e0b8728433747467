// A regular expression of a schema, checked by RE2: linear time, little stack, no back-tracking.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace bh::schema {

class Pattern {
 public:
  // INVALID_ARGUMENT; the message is RE2's own text, without a place.
  static Result<std::unique_ptr<const Pattern>> compile(std::string_view text);

  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // [any] True when some part of `subject` matches.
  bool matches(std::string_view subject) const;
  const std::string& text() const { return text_; }

 private:
  struct Engine;
  Pattern(std::string text, std::unique_ptr<Engine> engine);

  std::string text_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace bh::schema
