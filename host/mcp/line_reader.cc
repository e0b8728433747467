#include "mcp/line_reader.h"

namespace bh::mcp {

void LineReader::feed(std::string_view bytes, const Line& line, const TooLong& too_long) {
  while (!bytes.empty()) {
    size_t end = bytes.find('\n');
    bool whole = end != std::string_view::npos;
    std::string_view piece = bytes.substr(0, whole ? end : bytes.size());
    bytes.remove_prefix(whole ? end + 1 : bytes.size());
    if (!skipping_ && unfinished_.size() + piece.size() > longest_) {
      skipping_ = true;
      std::string().swap(unfinished_);
      too_long();
    }
    if (skipping_) {
      skipping_ = !whole;
    } else if (!whole) {
      unfinished_.append(piece);
    } else if (unfinished_.empty()) {
      give(piece, line);
    } else {
      std::string text = std::move(unfinished_);
      unfinished_.clear();
      text.append(piece);
      give(text, line);
    }
  }
}

void LineReader::end(const Line& line) {
  std::string text = std::move(unfinished_);
  unfinished_.clear();
  give(text, line);
}

void LineReader::give(std::string_view text, const Line& line) const {
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  if (text.find_first_not_of(" \t\r") != std::string_view::npos) line(text);
}

}  // namespace bh::mcp
