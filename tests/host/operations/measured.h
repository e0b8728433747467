// Numbers that the tests of files compare: one of an answer, and this process's memory.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "base/json.h"

namespace bh_test {

inline std::int64_t number(const std::string& result, const char* key) {
  auto o = bh::json::parse_object(result);
  return o ? bh::json::get_int(*o, key, -1) : -1;
}

inline std::int64_t resident_kib() {
  std::ifstream status("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  status >> all >> resident;
  return resident * (::sysconf(_SC_PAGESIZE) / 1024);
}

}  // namespace bh_test
