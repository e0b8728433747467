#include "base/glob.h"

#include <algorithm>

#include "base/utf8.h"

namespace bh {
namespace {

// The character at the start of `text`, and how long it is. A byte that is no UTF-8 stands for
// itself, beyond Unicode, so that it equals nothing but itself.
char32_t first_of(std::string_view text, std::size_t& length) {
  length = utf8::next(text);
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (length <= 1) {
    bool valid = length == 1;
    length = 1;
    return valid ? byte(0) : 0x200000u + byte(0);
  }
  char32_t c = byte(0) & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) c = (c << 6) | (byte(i) & 0x3Fu);
  return c;
}

}  // namespace

Glob::Glob(std::string_view pattern) {
  std::size_t length = 0;
  for (std::size_t at = 0; at < pattern.size();) {
    std::string_view rest = pattern.substr(at);
    Step step;
    if (rest.substr(0, 2) == "**") {
      bool starts_part = at == 0 || pattern[at - 1] == '/';
      at += std::min(rest.find_first_not_of('*'), rest.size());
      step.kind = kDeep;
      if (starts_part && at < pattern.size() && pattern[at] == '/') {
        step.kind = kDeepFolders;
        at++;
      }
    } else if (rest[0] == '*' || rest[0] == '?') {
      step.kind = rest[0] == '*' ? kStar : kAny;
      at++;
    } else {
      step.c = first_of(rest, length);
      std::size_t used = length;
      // Without its end it is a bracket and nothing else. One at the start of a class is in it.
      bool negated = rest.size() > 1 && (rest[1] == '!' || rest[1] == '^');
      std::size_t from = negated ? 2 : 1;
      std::size_t end = rest[0] == '[' ? rest.find(']', from + 1) : std::string_view::npos;
      if (end != std::string_view::npos) {
        step.kind = kClass;
        step.negated = negated;
        for (std::size_t i = from; i < end;) {
          Range range{first_of(rest.substr(i), length), 0};
          i += length;
          range.last = range.first;
          if (i + 1 < end && rest[i] == '-') {
            range.last = first_of(rest.substr(i + 1), length);
            i += 1 + length;
          }
          step.ranges.push_back(range);
        }
        used = end + 1;
      }
      at += used;
    }
    steps_.push_back(std::move(step));
  }
}

bool Glob::matches(std::string_view text) const {
  // Which prefixes of the text the steps so far can take; one flag for each length.
  std::vector<char> now(text.size() + 1, 0), next;
  now[0] = 1;
  for (const Step& step : steps_) {
    next.assign(text.size() + 1, 0);
    bool any = false;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      any = any || now[i] != 0;
      bool across = i > 0 && next[i - 1] != 0;
      switch (step.kind) {
        case kStar:
          next[i] = now[i] != 0 || (across && text[i - 1] != '/');
          break;
        case kDeep:
          next[i] = now[i] != 0 || across;
          break;
        case kDeepFolders:
          next[i] = now[i] != 0 || (any && i > 0 && text[i - 1] == '/');
          break;
        default: {
          if (now[i] == 0 || i == text.size()) break;
          std::size_t length = 0;
          char32_t c = first_of(text.substr(i), length);
          bool hit = step.kind == kChar ? c == step.c : c != '/';
          if (step.kind == kClass && hit) {
            bool in = std::any_of(step.ranges.begin(), step.ranges.end(), [&](const Range& r) {
              return r.first <= c && c <= r.last;
            });
            hit = in != step.negated;
          }
          if (hit) next[i + length] = 1;
        }
      }
    }
    now.swap(next);
  }
  return now[text.size()] != 0;
}

}  // namespace bh
