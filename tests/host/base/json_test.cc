#include "base/json.h"

#include "support/catch.h"
#include <string>

#include "base/utf8.h"

using bh::json::parse;
using bh::json::print;

namespace {
std::string reason_of(const std::string& text) {
  auto v = parse(text);
  if (v) return "parsed";
  auto details = bh::json::parse_object(v.error().details);
  return std::string(bh::json::get_string(*details, "reason"));
}
std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }
}  // namespace

TEST_CASE("numbers print in the form that Python gives them") {
  struct Row {
    double number;
    const char* text;
  };
  for (const Row& row :
       {Row{1.5, "1.5"}, Row{600, "600.0"}, Row{1e16, "1e+16"}, Row{1e15, "1000000000000000.0"},
        Row{0.0001, "0.0001"}, Row{0.00001, "1e-05"}, Row{1.25e-7, "1.25e-07"}, Row{-2.5, "-2.5"},
        Row{123456.789, "123456.789"}, Row{1e300, "1e+300"}, Row{0, "0.0"},
        Row{5e-324, "5e-324"}}) {
    CHECK(bh::json::print_number(row.number) == row.text);
    CHECK(print(*parse(row.text)) == row.text);
  }
  CHECK(print(*parse("[1,-7,18446744073709551615,9007199254740993]")) ==
        "[1,-7,18446744073709551615,9007199254740993]");
  CHECK(parse("0.30000000000000004")->get_double() == 0.1 + 0.2);
}

TEST_CASE("what JSON forbids is refused with its reason") {
  CHECK(reason_of("{\"a\":1,\"a\":2}") == "json_duplicate_key");
  CHECK(reason_of("{\"\":1,\"\":2}") == "json_duplicate_key");
  CHECK(reason_of("{\"x\":{\"b\":1,\"c\":[{\"d\":1,\"d\":1}]}}") == "json_duplicate_key");
  CHECK(reason_of("{\"a\":1,\"b\":{\"a\":2}}") == "parsed");
  CHECK(reason_of(nested(128)) == "parsed");
  CHECK(reason_of(nested(129)) == "json_depth");
  CHECK(reason_of(nested(100000)) == "json_depth");
  for (const char* bad : {"",     " ",     "{",   "[1,]",     "{\"a\"}", "nul",    "1 2",
                          "{} x", "'a'",   "01",  "+1",       "1.",      "\"\t\"", "\"\\x\"",
                          "[1",   "\"abc", "NaN", "Infinity", "1e999",   "// c\n1"}) {
    INFO(bad);
    CHECK(reason_of(bad) == "json_syntax");
  }
  CHECK(reason_of("\"\xff\"") == "json_utf8");
  CHECK(reason_of("\"\xed\xa0\x80\"") == "json_utf8");
}

TEST_CASE("lone surrogates become the replacement character") {
  auto text = [](const char* json) {
    auto v = parse(json);
    return v ? std::string(v->get_string().c_str()) : v.error().message;
  };
  CHECK(text("\"\\ud83d\\ude00\"") == "\xf0\x9f\x98\x80");
  CHECK(text("\"a\\ud800b\"") ==
        "a\xef\xbf\xbd"
        "b");
  CHECK(text("\"\\udc00\"") == "\xef\xbf\xbd");
  CHECK(text("\"\\ud800\\ud800\\udc00\"") == "\xef\xbf\xbd\xf0\x90\x80\x80");
  CHECK(text("\"\\\\ud800\"") == "\\ud800");
  CHECK(text("\"\\uD83D\"") == "\xef\xbf\xbd");
}

TEST_CASE("strings survive a round trip and control characters are escaped") {
  std::string all;
  for (int c = 1; c < 0x300; c++) bh::utf8::append(all, static_cast<char32_t>(c));
  auto v = parse(bh::json::quote(all));
  REQUIRE(v);
  CHECK(std::string_view(v->get_string().data(), v->get_string().size()) == all);
  CHECK(bh::json::quote(std::string_view("a\0b", 3)) == "\"a\\u0000b\"");
  CHECK(bh::json::quote("a\xff") == "\"a\xef\xbf\xbd\"");
}

TEST_CASE("UTF-8 is checked as Unicode defines it") {
  for (const char* good : {"a", "\xc2\x80", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                           "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    CHECK(bh::utf8::valid(good));
  }
  for (const char* bad :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\xc3"}) {
    CHECK_FALSE(bh::utf8::valid(bad));
    CHECK(bh::utf8::valid(bh::utf8::repair(bad)));
  }
}
