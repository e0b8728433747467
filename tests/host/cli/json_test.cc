#include "cli/json.h"

#include "support/catch.h"
#include "text.h"

using namespace bh::cli;
using bh_test::has;

namespace {

std::string refusal(std::string_view text) {
  Result<boost::json::value> v = parse_strict(text, "it");
  return v ? "" : v.error().message;
}

}  // namespace

TEST_CASE("strict reading takes one value") {
  CHECK(refusal("{}").empty());
  CHECK(refusal(" [1, 2.5, \"x\", null] \n").empty());
  CHECK(refusal("12").empty());
  CHECK(has(refusal(""), "middle"));
  CHECK(has(refusal("{"), "middle"));
  CHECK(has(refusal("{} {}"), "something follows"));
  CHECK(has(refusal("{}\n}"), "line 2, column 1"));
  CHECK(has(refusal("{\"a\":01}"), "line 1, column"));
}

TEST_CASE("a key that stands twice in one object is refused, wherever") {
  CHECK(has(refusal(R"({"a":1,"a":1})"), "\"a\" twice"));
  CHECK(has(refusal(R"({"o":[{"b":1,"c":{},"b":2}]})"), "\"b\" twice"));
  CHECK(has(refusal(R"({"a":1,"\u0061":1})"), "\"a\" twice"));
  CHECK(refusal(R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]})").empty());
}

TEST_CASE("depth ends at 128") {
  auto nested = [](int n) { return std::string(n, '[') + std::string(n, ']'); };
  CHECK(refusal(nested(128)).empty());
  CHECK(has(refusal(nested(129)), "deeper than 128"));
}

TEST_CASE("lenient reading has defaults") {
  boost::json::object o = parse_object_or_empty(R"({"s":"x","n":3,"b":true,"o":{"k":1},"a":[1]})");
  CHECK(string_at(o, "s") == "x");
  CHECK(string_at(o, "n").empty());
  CHECK(int_at(o, "n") == 3);
  CHECK(int_at(o, "s", 7) == 7);
  CHECK(bool_at(o, "b"));
  CHECK(object_at(o, "o").size() == 1);
  CHECK(object_at(o, "none").empty());
  CHECK(array_at(o, "a").size() == 1);
  CHECK(parse_object_or_empty("[1]").empty());
  CHECK(parse_object_or_empty("nonsense").empty());
}
