#include "core/output_keeper.h"

#include <algorithm>

#include "base/base64.h"
#include "base/utf8.h"

namespace bh {

namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Without a character at the end whose rest is missing.
std::string_view without_cut_end(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto c = static_cast<unsigned char>(text[text.size() - back]);
    if ((c & 0xC0) == 0x80) continue;
    const std::size_t length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
    return length > back ? text.substr(0, text.size() - back) : text;
  }
  return text;
}

// Without the rest of a character whose start is missing.
std::string_view without_cut_start(std::string_view text) {
  std::size_t skip = 0;
  while (skip < 3 && skip < text.size() && continues(text[skip])) ++skip;
  return text.substr(skip);
}

}  // namespace

OutputKeeper::OutputKeeper(std::size_t head, std::size_t tail)
    : head_limit_(head), tail_limit_(tail) {}

void OutputKeeper::append(std::string_view bytes) {
  total_ += bytes.size();
  const std::size_t to_head = std::min(bytes.size(), head_limit_ - head_.size());
  head_.append(bytes.substr(0, to_head));
  bytes.remove_prefix(to_head);
  if (bytes.size() >= tail_limit_) {
    tail_.assign(bytes.substr(bytes.size() - tail_limit_));
    tail_start_ = 0;
    return;
  }
  const std::size_t to_fill = std::min(bytes.size(), tail_limit_ - tail_.size());
  tail_.append(bytes.substr(0, to_fill));
  bytes.remove_prefix(to_fill);
  while (!bytes.empty()) {
    const std::size_t room = std::min(bytes.size(), tail_limit_ - tail_start_);
    std::copy_n(bytes.begin(), room, tail_.begin() + static_cast<std::ptrdiff_t>(tail_start_));
    tail_start_ = (tail_start_ + room) % tail_limit_;
    bytes.remove_prefix(room);
  }
}

std::string OutputKeeper::tail_text() const {
  return tail_.substr(tail_start_) + tail_.substr(0, tail_start_);
}

boost::json::object OutputKeeper::result() const {
  const std::string tail = tail_text();
  std::string text;
  std::uint64_t left_out = missing();
  bool readable;
  if (left_out == 0) {
    text = head_ + tail;
    readable = utf8::valid(text);
  } else {
    const std::string_view start = without_cut_end(head_);
    const std::string_view end = without_cut_start(tail);
    readable = utf8::valid(start) && utf8::valid(end);
    const std::uint64_t gap = total_ - start.size() - end.size();
    if (readable) {
      left_out = gap;
      text = std::string(start) + "\n[... " + std::to_string(gap) + " bytes left out ...]\n";
      text += end;
    }
  }
  boost::json::object out;
  if (readable)
    out["text"] = text;
  else
    out["base64"] = base64::encode(head_ + tail);
  out["bytes"] = total_;
  out["missing"] = left_out;
  return out;
}

}  // namespace bh
