#include "cli/text.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace bh::cli {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// How many bytes of well-formed UTF-8 stand at the front; 0: none.
std::size_t utf8_length(std::string_view s) {
  auto at = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  unsigned char c = at(0);
  std::size_t n = c < 0x80                ? 1
                  : c >= 0xC2 && c < 0xE0 ? 2
                  : c >= 0xE0 && c < 0xF0 ? 3
                  : c >= 0xF0 && c < 0xF5 ? 4
                                          : 0;
  if (n == 0 || n > s.size()) return 0;
  for (std::size_t i = 1; i < n; ++i) {
    if (!is_continuation(s[i])) return 0;
  }
  if (c == 0xE0 && at(1) < 0xA0) return 0;
  if (c == 0xED && at(1) >= 0xA0) return 0;
  if (c == 0xF0 && at(1) < 0x90) return 0;
  if (c == 0xF4 && at(1) >= 0x90) return 0;
  return n;
}

void append_escaped(std::string& out, std::string_view bytes) {
  char text[8];
  for (char c : bytes) {
    std::snprintf(text, sizeof text, "\\x%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(c)));
    out += text;
  }
}

// One decimal where it says something: 1.5, but 2 and not 2.0.
std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  std::string s = text;
  if (s.size() > 2 && s.compare(s.size() - 2, 2, ".0") == 0) s.resize(s.size() - 2);
  return s;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, diagonal + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t n = utf8_length(text);
    unsigned char c = static_cast<unsigned char>(text[0]);
    if (n == 1 && (c == '\n' || c == '\t' || c == '\r')) {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else if (n == 0 || (n == 1 && (c < 0x20 || c == 0x7F))) {
      append_escaped(out, text.substr(0, 1));
      n = 1;
    } else if (n == 2 && c == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0) {
      append_escaped(out, text.substr(0, 2));  // C1: a terminal may take them for escapes
    } else {
      out.append(text.substr(0, n));
    }
    text.remove_prefix(n == 0 ? 1 : n);
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    std::size_t n = utf8_length(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

std::string cut_to(std::string_view text, std::size_t columns) {
  if (width_of(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  std::size_t end = 0;
  std::size_t seen = 0;
  while (end < text.size()) {
    if (!is_continuation(text[end]) && ++seen == columns) break;
    ++end;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string_view first_sentence(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  text = text.substr(0, text.find('\n'));
  std::size_t stop = text.find(". ");
  return stop == std::string_view::npos ? text : text.substr(0, stop + 1);
}

std::string nearest(std::string_view word, const std::vector<std::string>& words) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : words) {
    bool starts = word.size() >= 2 && candidate.compare(0, word.size(), word) == 0;
    std::size_t distance = starts ? 0 : edit_distance(word, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string duration_text(std::int64_t ms) {
  if (ms < 1000) return std::to_string(ms) + " ms";
  if (ms % 3600000 == 0) return std::to_string(ms / 3600000) + " h";
  if (ms % 60000 == 0) return std::to_string(ms / 60000) + " min";
  return short_number(static_cast<double>(ms) / 1000) + " s";
}

std::string bytes_text(std::int64_t bytes) {
  static constexpr const char* kUnits[] = {" bytes", " KiB", " MiB", " GiB", " TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return short_number(value) + kUnits[unit];
}

}  // namespace bh::cli
