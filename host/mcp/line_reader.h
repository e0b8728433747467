// Lines out of bytes that arrive in any pieces.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace bh::mcp {

// Keeps one unfinished line, `longest` bytes at most; what is longer is left out up to its end.
class LineReader {
 public:
  explicit LineReader(size_t longest) : longest_(longest) {}

  // line(text): a line without its end (LF or CRLF); blank ones are passed over.
  // too_long(): once for each that was left out.
  using Line = std::function<void(std::string_view)>;
  using TooLong = std::function<void()>;
  void feed(std::string_view bytes, const Line& line, const TooLong& too_long);
  // No more bytes: what came after the last newline is a line too.
  void end(const Line& line);

 private:
  void give(std::string_view text, const Line& line) const;

  size_t longest_;
  bool skipping_ = false;
  std::string unfinished_;
};

}  // namespace bh::mcp
