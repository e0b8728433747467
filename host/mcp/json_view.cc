#include "mcp/json_view.h"

#include <charconv>
#include <cstdint>

#include "mcp/utf8.h"

namespace bh::mcp {
namespace {

bool space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

size_t skip_space(std::string_view t, size_t at) {
  while (at < t.size() && space(t[at])) ++at;
  return at;
}

size_t skip_string(std::string_view t, size_t at) {
  for (++at; at < t.size() && t[at] != '"'; ++at)
    if (t[at] == '\\') ++at;
  return at < t.size() ? at + 1 : t.size();
}

// The text is known to be well-formed, so a container ends where its brackets balance.
size_t skip_value(std::string_view t, size_t at) {
  size_t open = 0;
  while (at < t.size()) {
    char c = t[at];
    if (c == '"') {
      at = skip_string(t, at);
    } else if (c == '[' || c == '{') {
      ++open;
      ++at;
      continue;
    } else if (c == ']' || c == '}') {
      if (open == 0) return at;
      --open;
      ++at;
    } else if (c == ',' || c == ':' || space(c)) {
      if (open == 0) return at;
      ++at;
      continue;
    } else {
      while (at < t.size() && std::string_view(",:]} \t\r\n").find(t[at]) == std::string_view::npos)
        ++at;
    }
    if (open == 0) return at;
  }
  return at;
}

uint32_t four_hex(std::string_view t, size_t at) {
  uint32_t v = 0;
  if (at + 4 <= t.size()) std::from_chars(t.data() + at, t.data() + at + 4, v, 16);
  return v;
}

// The character that the escape at `at` stands for; moves behind it.
void unescape(std::string_view t, size_t& at, std::string& out) {
  char c = t[at + 1];
  if (c != 'u') {
    constexpr std::string_view from = "bfnrt", to = "\b\f\n\r\t";
    size_t i = from.find(c);
    out += i == std::string_view::npos ? c : to[i];
    at += 2;
    return;
  }
  uint32_t unit = four_hex(t, at + 2);
  at += 6;
  if (unit >= 0xD800 && unit < 0xDC00 && t.substr(at, 2) == "\\u") {
    uint32_t low = four_hex(t, at + 2);
    if (low >= 0xDC00 && low < 0xE000) {
      at += 6;
      append_utf8(out, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
      return;
    }
  }
  append_utf8(out, unit >= 0xD800 && unit < 0xE000 ? 0xFFFD : unit);
}

}  // namespace

JsonView::JsonView(std::string_view text) {
  size_t from = skip_space(text, 0);
  size_t to = text.size();
  while (to > from && space(text[to - 1])) --to;
  raw_ = text.substr(from, to - from);
}

JsonKind JsonView::kind() const {
  if (raw_.empty()) return JsonKind::absent;
  switch (raw_[0]) {
    case '{':
      return JsonKind::object;
    case '[':
      return JsonKind::array;
    case '"':
      return JsonKind::string;
    case 't':
    case 'f':
      return JsonKind::boolean;
    case 'n':
      return JsonKind::null;
    default:
      return JsonKind::number;
  }
}

JsonView JsonView::value_at(size_t& at) const {
  at = skip_space(raw_, at);
  size_t from = at;
  at = skip_value(raw_, at);
  return JsonView(raw_.substr(from, at - from));
}

bool JsonView::next_element(size_t& at, JsonView& value) const {
  at = skip_space(raw_, at);
  if (at < raw_.size() && raw_[at] == ',') at = skip_space(raw_, at + 1);
  if (at + 1 >= raw_.size()) return false;  // the closing bracket is the last byte
  value = value_at(at);
  return true;
}

bool JsonView::next_member(size_t& at, JsonView& key, JsonView& value) const {
  if (!next_element(at, key)) return false;
  at = skip_space(raw_, at) + 1;  // the colon
  value = value_at(at);
  return true;
}

JsonView JsonView::member(std::string_view key) const {
  if (!is(JsonKind::object)) return {};
  size_t at = 1;
  JsonView k, value;
  while (next_member(at, k, value)) {
    std::string_view inner = k.raw_.substr(1, k.raw_.size() - 2);
    bool plain = inner.find('\\') == std::string_view::npos;
    if (plain ? inner == key : k.text() == key) return value;
  }
  return {};
}

std::string JsonView::text() const {
  std::string out;
  if (!is(JsonKind::string)) return out;
  std::string_view inner = raw_.substr(1, raw_.size() - 2);
  out.reserve(inner.size());
  for (size_t at = 0; at < inner.size();) {
    if (inner[at] == '\\') {
      unescape(inner, at, out);
    } else {
      size_t to = inner.find('\\', at);
      if (to == std::string_view::npos) to = inner.size();
      out.append(inner.substr(at, to - at));
      at = to;
    }
  }
  return out;
}

double JsonView::number() const {
  double v = 0;
  if (is(JsonKind::number)) std::from_chars(raw_.data(), raw_.data() + raw_.size(), v);
  return v;
}

}  // namespace bh::mcp
