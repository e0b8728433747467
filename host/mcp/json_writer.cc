#include "mcp/json_writer.h"

#include <array>

#include "mcp/json_scan.h"
#include "mcp/utf8.h"

namespace bh::mcp {
namespace {

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
  size_t from = 0;
  for (size_t at = 0; at < t.size();) {
    char c = t[at];
    if (c == '"') {
      at = skip_string(t, at);
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      out.append(t.substr(from, at - from));
      from = ++at;
    } else {
      ++at;
    }
  }
  out.append(t.substr(from));
}

}  // namespace bh::mcp
