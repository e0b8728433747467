// File names by pattern: * and ? within one part of a path, [a-z] and [!a-z], ** across parts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bh {

class Glob {
 public:
  explicit Glob(std::string_view pattern);

  // The whole of `text`. Takes time with the product of both lengths, never more. [any]
  bool matches(std::string_view text) const;

 private:
  enum Kind { kChar, kAny, kClass, kStar, kDeep, kDeepFolders };
  struct Range {
    char32_t first, last;
  };
  struct Step {
    Kind kind = kChar;
    char32_t c = 0;
    bool negated = false;
    std::vector<Range> ranges;
  };
  std::vector<Step> steps_;
};

}  // namespace bh
