#include "base/glob.h"

#include <string>

#include "support/catch.h"

TEST_CASE("glob: what matches and what does not") {
  struct Row {
    const char* pattern;
    const char* text;
    bool hit;
  };
  const Row rows[] = {
      {"*.py", "a.py", true},          {"*.py", "a.pyc", false},
      {"*.py", ".py", true},           {"*", "", true},
      {"*", "a/b", false},             {"a?c", "abc", true},
      {"a?c", "ac", false},            {"a?c", "a/c", false},
      {"a?c", "a\xc3\xa9" "c", true},  {"a??c", "a\xc3\xa9" "c", false},
      {"a?c", "a\xff" "c", true},      {"[ab].txt", "b.txt", true},
      {"[ab].txt", "c.txt", false},    {"[a-c0-9]", "7", true},
      {"[!a-c]", "b", false},          {"[!a-c]", "d", true},
      {"[^a-c]", "d", true},           {"[!a]", "/", false},
      {"[]a]", "]", true},             {"[a-]", "-", true},
      {"[a", "[a", true},              {"[a", "a", false},
      {"src/*.c", "src/a.c", true},    {"src/*.c", "src/x/a.c", false},
      {"**/*.c", "a.c", true},         {"**/*.c", "x/y/a.c", true},
      {"src/**/a.c", "src/a.c", true}, {"src/**/a.c", "src/x/y/a.c", true},
      {"src/**/a.c", "srca.c", false}, {"src/**/a.c", "src/xa.c", false},
      {"src/**", "src/x/y", true},     {"src/**", "other/x", false},
      {"**", "a/b/c", true},           {"a**c", "a/b/c", true},
      {"[\xc3\xa0-\xc3\xaf]", "\xc3\xa9", true},
  };
  for (const Row& row : rows) {
    INFO(row.pattern << " on " << row.text);
    CHECK(bh::Glob(row.pattern).matches(row.text) == row.hit);
  }
}

TEST_CASE("glob: no pattern takes more than its length times the text's") {
  std::string pattern, text(3000, 'a');
  for (int i = 0; i < 300; ++i) pattern += "*a";
  CHECK_FALSE(bh::Glob(pattern + "b").matches(text));
  CHECK(bh::Glob(pattern).matches(text));
}
