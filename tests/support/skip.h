// BH_SKIP(reason): leaves a test case that cannot run where it is. Catch2 2.13 has no SKIP; the
// runner (tests/run.sh) counts the lines that this prints, so a skip is never a silent pass.
#pragma once

#include <string>

namespace bh_test {
void say_skipped(const char* file, int line, const std::string& reason);
}

#define BH_SKIP(reason)                                 \
  do {                                                  \
    bh_test::say_skipped(__FILE__, __LINE__, (reason)); \
    return;                                             \
  } while (false)
