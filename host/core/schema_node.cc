#include "core/schema_node.h"

#include <algorithm>
#include <utility>

namespace bh::schema {

namespace {

constexpr std::size_t kHashFrom = 9;

}  // namespace

void PropertyTable::add(std::string name, const Node* node) {
  list_.push_back({std::move(name), node});
  if (list_.size() < kHashFrom) return;
  if (list_.size() == kHashFrom) {
    for (const Property& property : list_) index_.emplace(property.name, &property);
  } else {
    index_.emplace(list_.back().name, &list_.back());
  }
}

const Property* PropertyTable::find(std::string_view name) const {
  if (!index_.empty()) {
    auto found = index_.find(name);
    return found == index_.end() ? nullptr : found->second;
  }
  for (const Property& property : list_) {
    if (property.name == name) return &property;
  }
  return nullptr;
}

bool KnownKeys::knows(std::string_view key) const {
  return names.find(key) != nullptr ||
         std::any_of(patterns.begin(), patterns.end(),
                     [key](const Pattern* pattern) { return pattern->matches(key); });
}

}  // namespace bh::schema
