#include "support/catch.h"

#include "mcp/json_view.h"
#include "mcp/json_writer.h"

using namespace bh::mcp;

TEST_CASE("only JSON is JSON") {
  struct Row {
    const char* text;
    const char* verdict;  // "" for fine
  };
  const Row rows[] = {
      {"{}", ""},
      {" [1, 2.5e-3, -0, \"\\u00e4\\n\", true, false, null, {\"a\":{}}] ", ""},
      {"\"\\ud800\"", ""},
      {"", "syntax"},
      {"{", "syntax"},
      {"[1,]", "syntax"},
      {"{\"a\":1,}", "syntax"},
      {"{a:1}", "syntax"},
      {"01", "syntax"},
      {"1.", "syntax"},
      {"+1", "syntax"},
      {"nul", "syntax"},
      {"{} {}", "syntax"},
      {"[1}", "syntax"},
      {"\"\\x\"", "syntax"},
      {"\"a\nb\"", "syntax"},
      {"\"\\u12g4\"", "syntax"},
      {"\"\xc3\"", "utf8"},
      {"\"\xc0\xaf\"", "utf8"},
      {"\"\xed\xa0\x80\"", "utf8"},
      {"\"\xf4\x90\x80\x80\"", "utf8"},
      {"{\"a\":1,\"a\":2}", "duplicate"},
      {"{\"a\":1,\"\\u0061\":2}", "duplicate"},
      {"[{\"x\":{\"k\":1,\"j\":2,\"k\":3}}]", "duplicate"},
      {"{\"a\":{\"a\":{\"a\":1}}}", ""},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    auto flaw = check_json(row.text);
    std::string got = !flaw                            ? ""
                      : flaw->kind == JsonFlaw::syntax ? "syntax"
                      : flaw->kind == JsonFlaw::utf8   ? "utf8"
                      : flaw->kind == JsonFlaw::depth  ? "depth"
                                                       : "duplicate";
    CHECK(got == row.verdict);
  }
}

TEST_CASE("depth is limited without using the stack") {
  auto nested = [](size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  CHECK_FALSE(check_json(nested(128)));
  REQUIRE(check_json(nested(129)));
  CHECK(check_json(nested(129))->kind == JsonFlaw::depth);
  CHECK(check_json(nested(1000000))->kind == JsonFlaw::depth);
  CHECK(check_json(std::string(1000000, '['))->kind == JsonFlaw::syntax);
}

TEST_CASE("a view finds members and elements as they are written") {
  JsonView v(R"( {"a" : [ 1.50 , "x]y" , {"b":{}} ] , "\u0063":"d\"\\\ud83d\ude00\ud800" } )");
  CHECK(v.member("a").raw() == R"([ 1.50 , "x]y" , {"b":{}} ])");
  CHECK(v.member("c").text() == "d\"\\\xF0\x9F\x98\x80\xEF\xBF\xBD");
  CHECK_FALSE(v.member("nothing"));
  CHECK(v.member("nothing").member("at").kind() == JsonKind::absent);
  std::vector<std::string> parts;
  v.member("a").each_element([&](JsonView e) { parts.emplace_back(e.raw()); });
  CHECK(parts == std::vector<std::string>{"1.50", "\"x]y\"", R"({"b":{}})"});
  std::string keys;
  v.each_member([&](const std::string& k, JsonView) { keys += k + ";"; });
  CHECK(keys == "a;c;");
}

TEST_CASE("text that goes out is on one line and well-formed, whatever it was") {
  std::string out;
  append_quoted(out, std::string_view("a\n\"\\\x01\x00\xff\xc3\xa4", 9));
  CHECK(out == "\"a\\n\\\"\\\\\\u0001\\u0000\xEF\xBF\xBD\xC3\xA4\"");
  CHECK_FALSE(check_json(out));
  out.clear();
  append_raw(out, JsonView("{ \"a b\" :\n 1.0,\r\n\t\"c\\\"\": [ ] }"));
  CHECK(out == R"({"a b":1.0,"c\"":[]})");
}
