// An optional table as a host reads it: as much as both sides know, the rest zero. Skips the check
// where the backend has none.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "box.h"

namespace bulkhead::sdk::contract {

template <class Table>
Table extension(Try& t, const char* id) {
  const auto get = t.backend.table().get_extension;
  const auto* raw = get != nullptr ? static_cast<const Table*>(get(id)) : nullptr;
  if (raw == nullptr) Try::skip(std::string(id) + " is not offered");
  Table out{};
  std::memcpy(&out, raw, std::min<size_t>(raw->struct_size, sizeof out));
  return out;
}

template <class Function>
Function given(Function f, const char* name) {
  if (f == nullptr) Try::skip(std::string(name) + " is not offered");
  return f;
}

// A call that this sandbox may not have: BH_UNIMPLEMENTED skips.
inline Answer offered(Answer answer, const char* name) {
  if (answer.not_offered()) Try::skip(std::string(name) + " is not offered for this sandbox");
  return answer;
}

}  // namespace bulkhead::sdk::contract
