// Aligned columns for people. Cells are made printable; the last column may be cut to the width
// of a terminal, the others never are.
#pragma once

#include <string>
#include <vector>

#include "cli/output.h"

namespace bh::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}

  // As many cells as the header has. `paint` is for the cell in column `painted`.
  void row(std::vector<std::string> cells, Paint paint = Paint::kNone, std::size_t painted = 0);

  // `width` in columns, 0: unlimited. No line ends in blanks.
  std::string text(const Palette& palette, std::size_t width = 0,
                   const std::string& indent = {}) const;
  bool empty() const { return rows_.empty(); }

 private:
  struct Row {
    std::vector<std::string> cells;
    Paint paint;
    std::size_t painted;
  };
  std::vector<std::string> header_;
  std::vector<Row> rows_;
};

// The colour of a status word of the library: enforced, partial, loaded, refused, ok …
Paint paint_of(std::string_view status);

}  // namespace bh::cli
