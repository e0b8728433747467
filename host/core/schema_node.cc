#include "core/schema_node.h"

#include <algorithm>
#include <utility>

namespace bh::schema {

namespace {

constexpr std::size_t kSortFrom = 9;

}  // namespace

void PropertyTable::add(std::string name, const Node* node) {
  list_.push_back({std::move(name), node});
  if (list_.size() < kSortFrom) return;
  for (std::size_t i = by_name_.size(); i < list_.size(); i++) {
    // Behind its equals: the first of a name is the one found.
    auto place = std::upper_bound(
        by_name_.begin(), by_name_.end(), list_[i].name,
        [this](const std::string& added, std::uint32_t other) { return added < list_[other].name; });
    by_name_.insert(place, static_cast<std::uint32_t>(i));
  }
}

const Property* PropertyTable::find(std::string_view name) const {
  if (by_name_.empty()) {
    for (const Property& property : list_) {
      if (property.name == name) return &property;
    }
    return nullptr;
  }
  auto place = std::lower_bound(
      by_name_.begin(), by_name_.end(), name,
      [this](std::uint32_t i, std::string_view wanted) { return list_[i].name < wanted; });
  if (place == by_name_.end() || list_[*place].name != name) return nullptr;
  return &list_[*place];
}

bool KnownKeys::knows(std::string_view key) const {
  return names.find(key) != nullptr ||
         std::any_of(patterns.begin(), patterns.end(),
                     [key](const Pattern* pattern) { return pattern->matches(key); });
}

}  // namespace bh::schema
