// What tests look for in texts.
#pragma once

#include <string>

namespace bh_test {

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace bh_test
