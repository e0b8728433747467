#include "lines.h"

#include <algorithm>
#include <bulkhead/sdk/text.hpp>
#include <utility>

namespace toolset_sandbox {

namespace {

// At most what the message takes in an answer: once as JSON, once indented within a JSON text.
size_t cost_of(std::string_view text) {
  size_t cost = 240;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    cost += u < 0x20 ? 13 : u == '"' || u == '\\' ? 6 : 2;
  }
  return cost;
}

}  // namespace

void Lines::add(std::string_view data, int64_t time_ms) {
  while (!data.empty()) {
    if (after_cr_ && data[0] == '\n') data.remove_prefix(1);
    if (data.empty()) break;
    after_cr_ = false;
    const size_t room = kLongest - line_.size();
    const size_t end = std::min(data.find_first_of("\r\n"), data.size());
    if (end > room || (end == data.size() && end == room)) {
      line_.append(data.substr(0, room));
      data.remove_prefix(room);
      // The cut stays between two characters where that is near.
      size_t keep_from = line_.size();
      while (keep_from > line_.size() - 3 &&
             (static_cast<unsigned char>(line_[keep_from - 1]) & 0xC0u) == 0x80u) {
        --keep_from;
      }
      if (static_cast<unsigned char>(line_[keep_from - 1]) >= 0xC0u) --keep_from;
      std::string rest = line_.substr(keep_from);
      line_.resize(keep_from);
      keep({sdk::to_utf8(line_), time_ms, 0});
      line_ = std::move(rest);
      cut_ = true;
      continue;
    }
    line_.append(data.substr(0, end));
    if (end == data.size()) return;
    after_cr_ = data[end] == '\r';
    data.remove_prefix(end + 1);
    finish(time_ms);
  }
}

void Lines::end(int64_t time_ms) {
  if (!line_.empty()) finish(time_ms);
}

void Lines::finish(int64_t time_ms) {
  // Nothing is left of a line that was cut right at its end.
  if (!(cut_ && line_.empty())) keep({line_.empty() ? "\n" : sdk::to_utf8(line_), time_ms, 0});
  line_.clear();
  cut_ = false;
}

void Lines::keep(Line line) {
  line.cost = cost_of(line.text);
  if (tail_.empty() && head_cost_ + line.cost <= kHalf) {
    head_cost_ += line.cost;
    head_.push_back(std::move(line));
    return;
  }
  tail_cost_ += line.cost;
  tail_.push_back(std::move(line));
  while (tail_cost_ > kHalf && tail_.size() > 1) {
    tail_cost_ -= tail_.front().cost;
    missing_ += tail_.front().text.size();
    tail_.pop_front();
  }
}

json::array Lines::messages() const {
  json::array out;
  const auto add = [&](const std::string& text, int64_t time_ms) {
    out.push_back(
        json::object{{"text", text}, {"timestamp", time_ms}, {"is_error", is_error_}});
  };
  for (const Line& line : head_) add(line.text, line.time_ms);
  if (missing_ > 0) {
    add("[... " + std::to_string(missing_) + " bytes left out ...]", tail_.front().time_ms);
  }
  for (const Line& line : tail_) add(line.text, line.time_ms);
  return out;
}

}  // namespace toolset_sandbox
