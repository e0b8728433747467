#include "mcp/json_writer.h"

#include <array>

#include "mcp/utf8.h"

namespace bh::mcp {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void append_escaped(std::string& out, unsigned char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      constexpr std::string_view digits = "0123456789abcdef";
      out += "\\u00";
      out += digits[c >> 4];
      out += digits[c & 15];
  }
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  size_t plain_from = 0;
  for (size_t at = 0; at < text.size();) {
    auto c = static_cast<unsigned char>(text[at]);
    size_t n = c < 0x80 ? 1 : utf8_length(text, at);
    if (n != 0 && c >= 0x20 && c != '"' && c != '\\' && c != 0x7F) {
      at += n;
      continue;
    }
    out.append(text.substr(plain_from, at - plain_from));
    if (n == 0)
      append_utf8(out, 0xFFFD);
    else
      append_escaped(out, c);
    plain_from = ++at;
  }
  out.append(text.substr(plain_from));
  out += '"';
}

void append_raw(std::string& out, JsonView value) {
  std::string_view t = value.raw();
  for (size_t at = 0; at < t.size();) {
    char c = t[at];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at;
    } else if (c == '"') {
      size_t from = at;
      for (++at; at < t.size() && t[at] != '"'; ++at)
        if (t[at] == '\\') ++at;
      ++at;
      out.append(t.substr(from, at - from));
    } else {
      out += c;
      ++at;
    }
  }
}

void append_base64(std::string& out, std::string_view bytes) {
  out.reserve(out.size() + (bytes.size() + 2) / 3 * 4);
  size_t at = 0;
  auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])); };
  for (; at + 3 <= bytes.size(); at += 3) {
    uint32_t v = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
    const char four[4] = {alphabet[v >> 18], alphabet[v >> 12 & 63], alphabet[v >> 6 & 63],
                          alphabet[v & 63]};
    out.append(four, 4);
  }
  if (at == bytes.size()) return;
  bool two = at + 2 == bytes.size();
  uint32_t v = byte(at) << 16 | (two ? byte(at + 1) << 8 : 0);
  out += alphabet[v >> 18];
  out += alphabet[v >> 12 & 63];
  out += two ? alphabet[v >> 6 & 63] : '=';
  out += '=';
}

std::string base64(std::string_view bytes) {
  std::string out;
  append_base64(out, bytes);
  return out;
}

bool from_base64(std::string_view text, std::string& out) {
  out.clear();
  std::string_view digits = text.substr(0, text.find('='));
  uint32_t bits = 0;
  unsigned count = 0;
  for (char c : digits) {
    size_t v = alphabet.find(c);
    if (v == std::string_view::npos) return false;
    bits = bits << 6 | static_cast<uint32_t>(v);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> count & 0xFF);
    }
  }
  // Writing it again is the whole check of padding and of left-over bits.
  return base64(out) == text;
}

}  // namespace bh::mcp
