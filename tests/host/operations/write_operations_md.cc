// Prints host/operations.md: build/dev/tests/operations_md > host/operations.md
#include <cstdio>

#include "operations/catalogue.h"
#include "operations_md.h"

int main() {
  const std::string text = bh_test::operations_markdown(bh::catalogue());
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
