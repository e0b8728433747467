#include "mcp/progress.h"

#include "mcp/json_writer.h"
#include "mcp/utf8.h"

namespace bh::mcp {
namespace {
constexpr size_t longest_message = 4096;
}

void Progress::printed(std::string_view bytes) {
  if (!wanted() || bytes.empty()) return;
  printed_ += bytes.size();
  if (tool_reports_) return;
  pending_ = true;
  if (bytes.size() > longest_message) {
    left_out_ += bytes.size() - longest_message;
    bytes.remove_prefix(bytes.size() - longest_message);
  }
  tail_.append(bytes);
  if (tail_.size() > longest_message) {
    left_out_ += tail_.size() - longest_message;
    tail_.erase(0, tail_.size() - longest_message);
  }
}

void Progress::reported(JsonView event) {
  JsonView value = event.member("progress");
  if (!wanted() || !value.is(JsonKind::number) || value.number() <= sent_) return;
  tool_reports_ = true;
  pending_ = true;
  value_ = value.raw();
  JsonView total = event.member("total");
  total_ = total.is(JsonKind::number) ? total.raw() : std::string_view();
  said_ = event.member("message").text().substr(0, longest_message);
  tail_.clear();
}

std::optional<Clock::time_point> Progress::due() const {
  if (!pending_) return std::nullopt;
  return not_before_;
}

std::string Progress::message() {
  if (tool_reports_) return said_;
  std::string_view text = tail_;
  // A cut can fall into a character: its rest is dropped in front and waited for at the end.
  size_t from = 0;
  while (from < text.size() && from < 4 && (text[from] & 0xC0) == 0x80) ++from;
  size_t to = text.size();
  for (size_t back = 1; back <= 3 && back <= text.size() - from; ++back)
    if (utf8_cut_short(text, text.size() - back)) to = text.size() - back;
  std::string out;
  if (left_out_ != 0) out = "[" + std::to_string(left_out_) + " bytes left out]\n";
  out += text.substr(from, to - from);
  tail_.erase(0, to);
  left_out_ = 0;
  return out;
}

std::string Progress::take(Clock::time_point now, bool at_the_end, bool with_message) {
  if (!pending_ || (!at_the_end && now < not_before_)) return {};
  pending_ = false;
  not_before_ = now + interval_;
  std::string value = tool_reports_ ? value_ : std::to_string(printed_);
  std::string said = message();
  double number = JsonView(value).number();
  if (number <= sent_) return {};
  sent_ = number;
  std::string out;
  ObjectWriter w(out);
  w.value("progressToken") += token_;
  w.value("progress") += value;
  if (tool_reports_ && !total_.empty()) w.value("total") += total_;
  if (with_message && !said.empty()) w.text("message", said);
  w.close();
  return out;
}

}  // namespace bh::mcp
