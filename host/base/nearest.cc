#include "base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace bh {
namespace {

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); i++) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); j++) {
      std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view name, const std::vector<std::string_view>& names) {
  // Names are short; somebody's megabyte is not a typing error.
  if (name.size() > 64) return {};
  std::string_view best;
  std::size_t limit = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (std::string_view candidate : names) {
    std::size_t d = distance(name, candidate);
    if (d < limit) {
      limit = d;
      best = candidate;
    }
  }
  return best;
}

}  // namespace bh
