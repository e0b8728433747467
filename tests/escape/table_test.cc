// The table is whole: every row has its tests, and RESULTS.md speaks of the same rows.
#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "row.h"

using namespace bh_test;

TEST_CASE("table: every row is tested, and every test is about a row") {
  Names wanted, tested;
  for (const RowName& name : kRows) wanted.insert(name.id);
  for (const auto& [id, bodies] : row_registry()) tested.insert(id);
  CHECK(wanted.size() == std::size(kRows));  // none is named twice
  CHECK(tested == wanted);
}

TEST_CASE("table: RESULTS.md has the rows and the backends of this suite, for each kernel") {
  Names wanted;
  for (const RowName& name : kRows) wanted.insert(name.id);
  std::vector<std::pair<std::string, Names>> tables;  // heads, rows
  const std::string text = read(std::string(BH_SOURCE_DIR) + "/tests/escape/RESULTS.md");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("| ", 0) != 0) continue;
    const std::string first = line.substr(2, line.find(' ', 2) - 2);
    if (first == "row") tables.emplace_back(line, Names());
    if (first == "row" || first.find_first_not_of("-") == std::string::npos) continue;
    CAPTURE(first);
    REQUIRE_FALSE(tables.empty());
    CHECK(tables.back().second.insert(first).second);
  }
  REQUIRE_FALSE(tables.empty());
  CHECK(tables.front().second == wanted);  // this kernel's; of another one some may be enough
  for (const auto& [heads, written] : tables) {
    CHECK_FALSE(written.empty());
    CHECK(std::includes(wanted.begin(), wanted.end(), written.begin(), written.end()));
    for (const char* backend : kBackends) {
      CAPTURE(backend);
      CHECK(heads.find(std::string(" ") + backend + ", root ") != std::string::npos);
      CHECK(heads.find(std::string(" ") + backend + ", user ") != std::string::npos);
    }
  }
}
