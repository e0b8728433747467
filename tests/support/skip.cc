#include "support/skip.h"

#include "support/catch.h"
#include <cstdio>
#include <string>

namespace bh_test {

void say_skipped(const char* file, int line, const std::string& reason) {
  std::string name = Catch::getResultCapture().getCurrentTestName();
  std::printf("BH_SKIPPED %s: %s (%s:%d)\n", name.c_str(), reason.c_str(), file, line);
  std::fflush(stdout);
}

}  // namespace bh_test
