// JSON as text that is looked at, never rebuilt. What passes through the engine (ids, progress
// tokens, schemas, arguments, structured results) goes out byte for byte as it came in: key order
// and number forms are kept, which a document tree in memory would lose.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bh::mcp {

enum class JsonKind { absent, null, boolean, number, string, array, object };

// What is wrong with a text. `syntax` and `utf8` mean that it is no JSON at all; the other two are
// found in well-formed JSON, which can be viewed nevertheless, to learn whom to answer.
struct JsonFlaw {
  enum Kind { syntax, utf8, depth, duplicate };
  Kind kind;
  size_t offset;     // in bytes
  std::string what;  // a sentence without its full stop
  bool readable() const { return kind == depth || kind == duplicate; }
};

// The first flaw of one complete JSON text, or nothing. Takes no stack in proportion to the depth.
std::optional<JsonFlaw> check_json(std::string_view text, size_t max_depth = 128);

// One value inside a text that check_json() found readable. Borrowed; a copy is two words.
class JsonView {
 public:
  JsonView() = default;
  explicit JsonView(std::string_view text);  // white space around it is left out

  JsonKind kind() const;
  bool is(JsonKind k) const { return kind() == k; }
  explicit operator bool() const { return !raw_.empty(); }
  std::string_view raw() const { return raw_; }

  // Absent where this is no object or has no such key. The first of duplicates.
  JsonView member(std::string_view key) const;
  // The same for several, in one pass.
  template <size_t N>
  std::array<JsonView, N> members(const std::array<std::string_view, N>& keys) const {
    std::array<JsonView, N> found;
    find(keys.data(), found.data(), N);
    return found;
  }
  // The characters of a string; a lone surrogate becomes U+FFFD. Empty for all other kinds.
  std::string text() const;
  // Whether it is this string, which has nothing to escape.
  bool says(std::string_view plain) const;
  bool is_true() const { return raw_ == "true"; }
  double number() const;  // 0 for all other kinds

  // F(std::string key, JsonView) for each member, F(JsonView) for each element.
  template <class F>
  void each_member(F&& f) const {
    if (!is(JsonKind::object)) return;
    size_t at = 1;
    JsonView key, value;
    while (next_member(at, key, value)) f(key.text(), value);
  }
  template <class F>
  void each_element(F&& f) const {
    if (!is(JsonKind::array)) return;
    size_t at = 1;
    JsonView value;
    while (next_element(at, value)) f(value);
  }

 private:
  void find(const std::string_view* keys, JsonView* found, size_t count) const;
  bool next_member(size_t& at, JsonView& key, JsonView& value) const;
  bool next_element(size_t& at, JsonView& value) const;
  JsonView value_at(size_t& at) const;

  std::string_view raw_;
};

}  // namespace bh::mcp
