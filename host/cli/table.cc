#include "cli/table.h"

#include <algorithm>

#include "cli/text.h"

namespace bh::cli {

void Table::row(std::vector<std::string> cells, Paint paint, std::size_t painted) {
  for (std::string& cell : cells) cell = printable(cell);
  cells.resize(header_.size());
  rows_.push_back(Row{std::move(cells), paint, painted});
}

std::string Table::text(const Palette& palette, std::size_t width,
                        const std::string& indent) const {
  std::vector<std::size_t> widths;
  for (const std::string& h : header_) widths.push_back(width_of(h));
  for (const Row& r : rows_) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(r.cells[i]));
    }
  }
  std::string out;
  auto line = [&](const std::vector<std::string>& cells, Paint paint, std::size_t painted) {
    std::size_t last = cells.size();
    while (last > 0 && cells[last - 1].empty()) --last;
    std::size_t used = indent.size();
    out += indent;
    for (std::size_t i = 0; i < last; ++i) {
      std::string cell = cells[i];
      // Below a dozen columns a cut cell says nothing: then the terminal may wrap it.
      if (i + 1 == header_.size() && width > used + 12) cell = cut_to(cell, width - used);
      std::size_t shown = width_of(cell);
      out += i == painted ? palette(paint, cell) : cell;
      if (i + 1 < last) out.append(widths[i] - shown + 2, ' ');
      used += widths[i] + 2;
    }
    out += '\n';
  };
  if (std::any_of(header_.begin(), header_.end(), [](const auto& h) { return !h.empty(); })) {
    std::vector<std::string> header = header_;
    line(header, Paint::kNone, header.size());
  }
  for (const Row& r : rows_) line(r.cells, r.paint, r.painted);
  return out;
}

Paint paint_of(std::string_view status) {
  if (status == "ok" || status == "enforced" || status == "loaded" || status == "available") {
    return Paint::kGood;
  }
  if (status == "partial" || status == "note" || status == "shadowed" || status == "disabled") {
    return Paint::kWarn;
  }
  return Paint::kBad;
}

}  // namespace bh::cli
