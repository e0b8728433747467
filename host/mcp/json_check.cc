// check_json(): the grammar of RFC 8259, with a stack of its own.
#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <memory_resource>
#include <vector>

#include "mcp/json_scan.h"
#include "mcp/json_view.h"
#include "mcp/utf8.h"

namespace bh::mcp {
namespace {

bool space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool digit(char c) { return c >= '0' && c <= '9'; }
bool hex(char c) { return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// The first kilobyte from where it stands, so that an ordinary message needs no heap; after that
// the heap, which takes back what a growing vector leaves.
class FirstKilobyte : public std::pmr::memory_resource {
  void* do_allocate(size_t bytes, size_t alignment) override {
    void* at = space_.data() + used_;
    size_t room = space_.size() - used_;
    if (std::align(alignment, bytes, at, room) == nullptr) {
      return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    used_ = space_.size() - room + bytes;
    return at;
  }
  void do_deallocate(void* at, size_t bytes, size_t alignment) override {
    const std::less<void*> before;
    if (before(at, space_.data()) || !before(at, space_.data() + space_.size())) {
      std::pmr::new_delete_resource()->deallocate(at, bytes, alignment);
    }
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  alignas(std::max_align_t) std::array<std::byte, 1024> space_;
  size_t used_ = 0;
};

class Checker {
 public:
  Checker(std::string_view text, size_t max_depth) : text_(text), max_depth_(max_depth) {}

  std::optional<JsonFlaw> run() {
    skip_space();
    while (value() && flawed_ == nullptr) {
      // After a value: close what ends here, or go on to the next member or element.
      if (!after_value()) break;
      if (done_) break;
    }
    if (flawed_ == nullptr && done_) {
      skip_space();
      if (at_ < text_.size()) fail("there is something after the end of the JSON value");
    }
    if (fatal_) return fatal_;
    return soft_;
  }

 private:
  struct Open {
    bool object;
    size_t keys_from;  // where its keys begin in keys_
  };

  void skip_space() {
    while (at_ < text_.size() && space(text_[at_])) ++at_;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool fail(const char* what, JsonFlaw::Kind kind = JsonFlaw::syntax) {
    if (!fatal_) fatal_ = JsonFlaw{kind, at_, what};
    flawed_ = what;
    return false;
  }
  void note(JsonFlaw::Kind kind, std::string what) {
    if (!soft_) soft_ = JsonFlaw{kind, at_, std::move(what)};
  }

  // One scalar, or the beginning of an array or object down to its first scalar.
  bool value() {
    while (true) {
      if (at_ >= text_.size()) return fail("the JSON text ends too early");
      char c = text_[at_];
      if (c == '"') return string();
      if (c == '-' || digit(c)) return number();
      if (c == 't') return word("true");
      if (c == 'f') return word("false");
      if (c == 'n') return word("null");
      if (c != '[' && c != '{') return fail("a JSON value was expected");
      if (open_.size() <= max_depth_) {
        open_.push_back({c == '{', keys_.size()});
        if (open_.size() == max_depth_ + 1)
          note(JsonFlaw::depth, "it is nested more than " + std::to_string(max_depth_) + " deep");
      } else {
        deeper_.push_back(c == '{');
      }
      ++at_;
      skip_space();
      if (peek() == (c == '{' ? '}' : ']')) return true;  // empty: after_value() closes it
      if (c == '{' && !key()) return false;
    }
  }

  bool after_value() {
    while (true) {
      skip_space();
      if (open_.empty()) return done_ = true;
      bool object = deeper_.empty() ? open_.back().object : static_cast<bool>(deeper_.back());
      char c = peek();
      if (c == (object ? '}' : ']')) {
        close();
        ++at_;
        continue;
      }
      if (c != ',') return fail(object ? "',' or '}' was expected" : "',' or ']' was expected");
      ++at_;
      skip_space();
      return object ? key() : true;
    }
  }

  bool key() {
    if (peek() != '"') return fail("a key in quotes was expected");
    size_t from = at_;
    if (!string()) return false;
    if (open_.size() <= max_depth_) keys_.push_back(text_.substr(from, at_ - from));
    skip_space();
    if (peek() != ':') return fail("':' was expected");
    ++at_;
    skip_space();
    return true;
  }

  // Closes the innermost, and looks for keys that it has twice.
  void close() {
    if (!deeper_.empty()) {
      deeper_.pop_back();
      return;
    }
    size_t from = open_.back().keys_from;
    if (open_.back().object && keys_.size() - from > 1 && !soft_) look_for_duplicates(from);
    keys_.resize(from);
    open_.pop_back();
  }

  // For a handful of keys; most have lengths of their own, so that few are compared.
  bool all_differ(size_t from) const {
    for (size_t i = from; i < keys_.size(); ++i) {
      if (keys_[i].find('\\') != std::string_view::npos) return false;  // spelt in two ways, maybe
      for (size_t j = from; j < i; ++j)
        if (keys_[i] == keys_[j]) return false;
    }
    return true;
  }

  void look_for_duplicates(size_t from) {
    if (keys_.size() - from <= 8 && all_differ(from)) return;
    // Escapes can spell one key in two ways; without any, the texts themselves tell.
    auto first = keys_.begin() + static_cast<std::ptrdiff_t>(from);
    bool escaped = std::any_of(first, keys_.end(), [](std::string_view k) {
      return k.find('\\') != std::string_view::npos;
    });
    if (escaped) {
      std::vector<std::string> plain;
      for (auto k = first; k != keys_.end(); ++k) plain.push_back(JsonView(*k).text());
      std::sort(plain.begin(), plain.end());
      auto twice = std::adjacent_find(plain.begin(), plain.end());
      if (twice != plain.end()) note_duplicate(*twice);
    } else {
      std::sort(first, keys_.end());
      auto twice = std::adjacent_find(first, keys_.end());
      if (twice != keys_.end()) note_duplicate(JsonView(*twice).text());
    }
  }
  void note_duplicate(const std::string& key) {
    note(JsonFlaw::duplicate, "an object has the key \"" + key.substr(0, 64) + "\" twice");
  }

  bool string() {
    ++at_;
    while ((at_ = plain_end(text_, at_)) < text_.size()) {
      auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c < 0x20) return fail("a control character stands unescaped in a string");
      if (c == '\\') {
        if (!escape()) return false;
      } else {
        size_t n = utf8_length(text_, at_);
        if (n == 0) return fail("a string is not valid UTF-8", JsonFlaw::utf8);
        at_ += n;
      }
    }
    return fail("a string does not end");
  }

  bool escape() {
    char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (c == 'u') {
      for (size_t i = 2; i < 6; ++i)
        if (at_ + i >= text_.size() || !hex(text_[at_ + i]))
          return fail("\\u needs four hexadecimal digits");
      at_ += 6;
      return true;
    }
    if (c == '\0' || std::string_view("\"\\/bfnrt").find(c) == std::string_view::npos)
      return fail("a string has an unknown escape");
    at_ += 2;
    return true;
  }

  bool number() {
    if (peek() == '-') ++at_;
    if (!digit(peek())) return fail("a digit was expected");
    if (peek() == '0')
      ++at_;
    else
      digits();
    if (peek() == '.') {
      ++at_;
      if (!digit(peek())) return fail("a digit was expected");
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!digit(peek())) return fail("a digit was expected");
      digits();
    }
    return true;
  }
  void digits() {
    while (digit(peek())) ++at_;
  }

  bool word(std::string_view w) {
    if (text_.substr(at_, w.size()) != w) return fail("a JSON value was expected");
    at_ += w.size();
    return true;
  }

  std::string_view text_;
  size_t max_depth_;
  size_t at_ = 0;
  bool done_ = false;
  const char* flawed_ = nullptr;
  std::optional<JsonFlaw> fatal_;
  std::optional<JsonFlaw> soft_;
  FirstKilobyte memory_;
  std::pmr::vector<Open> open_{&memory_};
  std::vector<bool> deeper_;  // which levels below max_depth_ are objects: a bit, not a record
  std::pmr::vector<std::string_view> keys_{&memory_};
};

}  // namespace

std::optional<JsonFlaw> check_json(std::string_view text, size_t max_depth) {
  return Checker(text, max_depth).run();
}

}  // namespace bh::mcp
