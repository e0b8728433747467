#include "mcp/json_view.h"

#include <charconv>
#include <cstdint>

#include "mcp/json_scan.h"
#include "mcp/utf8.h"

namespace bh::mcp {
namespace {

bool space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

size_t skip_space(std::string_view t, size_t at) {
  while (at < t.size() && space(t[at])) ++at;
  return at;
}

// The text is known to be well-formed, so a container ends where its brackets balance.
size_t skip_container(std::string_view t, size_t at) {
  size_t open = 0;
  while (at < t.size()) {
    switch (t[at]) {
      case '"':
        at = skip_string(t, at);
        continue;
      case '[':
      case '{':
        ++open;
        break;
      case ']':
      case '}':
        if (--open == 0) return at + 1;
        break;
      default:
        break;
    }
    ++at;
  }
  return at;
}

bool ends_scalar(char c) {
  return c == ',' || c == ':' || c == ']' || c == '}' || space(c);
}

size_t skip_value(std::string_view t, size_t at) {
  if (at >= t.size()) return at;
  if (t[at] == '"') return skip_string(t, at);
  if (t[at] == '[' || t[at] == '{') return skip_container(t, at);
  while (at < t.size() && !ends_scalar(t[at])) ++at;
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

size_t skip_string(std::string_view t, size_t at) {
  for (++at; at < t.size(); ++at) {
    at = plain_end(t, at);
    if (at >= t.size()) break;
    if (t[at] == '"') return at + 1;
    if (t[at] == '\\') ++at;
  }
  return t.size();
}

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
  JsonView found;
  find(&key, &found, 1);
  return found;
}

void JsonView::find(const std::string_view* keys, JsonView* found, size_t count) const {
  if (!is(JsonKind::object)) return;
  size_t at = 1, left = count;
  JsonView key, value;
  auto take = [&](std::string_view name) {
    for (size_t i = 0; i < count; ++i) {
      if (name != keys[i]) continue;
      if (!found[i]) {
        found[i] = value;
        --left;
      }
      return true;
    }
    return false;
  };
  while (left != 0 && next_member(at, key, value)) {
    std::string_view name = key.raw_.substr(1, key.raw_.size() - 2);
    if (!take(name) && name.find('\\') != std::string_view::npos) take(key.text());
  }
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

bool JsonView::says(std::string_view plain) const {
  if (!is(JsonKind::string)) return false;
  std::string_view inner = raw_.substr(1, raw_.size() - 2);
  return inner == plain || (inner.size() > plain.size() && text() == plain);
}

double JsonView::number() const {
  double v = 0;
  if (is(JsonKind::number)) std::from_chars(raw_.data(), raw_.data() + raw_.size(), v);
  return v;
}

}  // namespace bh::mcp
