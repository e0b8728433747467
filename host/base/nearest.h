// "Did you mean": the name that was probably meant.
#pragma once

#include <string_view>
#include <vector>

namespace bh {

// The nearest of `names` by edit distance, or empty where none is near enough to be a typing error.
std::string_view nearest(std::string_view name, const std::vector<std::string_view>& names);

}  // namespace bh
