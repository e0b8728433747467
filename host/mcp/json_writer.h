// Writes JSON text: members one after the other, values of others spliced in as they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mcp/json_view.h"

namespace bh::mcp {

// In quotes and escaped; bytes that are no UTF-8 become U+FFFD.
void append_quoted(std::string& out, std::string_view text);
// As it is, but on one line: white space between its tokens is left out.
void append_raw(std::string& out, JsonView value);

// An object that begins with the constructor and ends with close(). Where a value is written by
// the caller, value() gives the text to append it to.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }
  // Keys are ours, and have nothing to escape.
  std::string& value(std::string_view key) {
    out_ += first_ ? "\"" : ",\"";
    first_ = false;
    out_ += key;
    out_ += "\":";
    return out_;
  }
  ObjectWriter& text(std::string_view key, std::string_view v) {
    append_quoted(value(key), v);
    return *this;
  }
  ObjectWriter& raw(std::string_view key, JsonView v) {
    if (v) append_raw(value(key), v);
    return *this;
  }
  // The same, only where it is of the kind that a reader expects.
  ObjectWriter& raw(std::string_view key, JsonView v, JsonKind kind) {
    return v.is(kind) ? raw(key, v) : *this;
  }
  ObjectWriter& integer(std::string_view key, int64_t v) {
    value(key) += std::to_string(v);
    return *this;
  }
  ObjectWriter& flag(std::string_view key, bool v) {
    value(key) += v ? "true" : "false";
    return *this;
  }
  void close() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

}  // namespace bh::mcp
