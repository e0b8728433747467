#include "support/catch.h"

#include <bulkhead/sdk.hpp>
#include <bulkhead/sdk/json.hpp>
#include <memory>

using namespace bulkhead::sdk;

TEST_CASE("a Status is ok or has a failure that is not BH_OK") {
  Status ok;
  CHECK(ok.ok());
  CHECK(ok.code() == BH_OK);
  Status bad = Failure(BH_NOT_FOUND, "gone");
  CHECK_FALSE(bad.ok());
  CHECK(bad.code() == BH_NOT_FOUND);
  CHECK(bad.failure().message() == "gone");
  CHECK(Status::from(BH_OK).ok());
  CHECK(Status::from(BH_CANCELLED).code() == BH_CANCELLED);
  // A failure that claims to be none is a bug, and is said to be one.
  CHECK(Status(Failure(BH_OK, "odd")).code() == BH_INTERNAL);
}

TEST_CASE("a Result holds the value or the failure") {
  Result<std::string> one(std::string("x"));
  REQUIRE(one.ok());
  CHECK(*one == "x");
  CHECK(one->size() == 1);
  Result<std::string> none(Failure(BH_UNAVAILABLE, "later"));
  REQUIRE_FALSE(none.ok());
  CHECK(none.status().code() == BH_UNAVAILABLE);
  Result<std::unique_ptr<int>> moved(std::make_unique<int>(7));
  std::unique_ptr<int> taken = *std::move(moved);
  CHECK(*taken == 7);
}

TEST_CASE("details name the reason, the field and the remedy") {
  const Failure f = failure(BH_INVALID_ARGUMENT, "too long", "range", "/argv/0", "make it shorter");
  auto details = json::parse_object(f.details());
  REQUIRE(details.ok());
  CHECK(json::text(*details, "reason") == "range");
  CHECK(json::text(*details, "field") == "/argv/0");
  CHECK(json::text(*details, "remedy") == "make it shorter");
}

TEST_CASE("quoted text is valid JSON whatever the bytes") {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  auto v = json::parse(json_quote(all));
  REQUIRE(v.ok());
  const std::string back(json::view(v->get_string()));
  CHECK(back.substr(0, 128) == all.substr(0, 128));
  CHECK(is_utf8(back));
  CHECK_FALSE(is_utf8(all));
  // Overlong forms, surrogates and what lies beyond U+10FFFF are no UTF-8.
  for (const char* bad : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                          "\xF4\x90\x80\x80", "\xE2\x82", "\x80"}) {
    CHECK_FALSE(is_utf8(bad));
    CHECK(is_utf8(to_utf8(bad)));
  }
  for (const char* good : {"", "a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
    CHECK(is_utf8(good));
    CHECK(to_utf8(good) == good);
  }
}

TEST_CASE("JSON deeper than 128 is refused") {
  CHECK(json::parse(std::string(120, '[') + std::string(120, ']')).ok());
  auto deep = json::parse(std::string(200, '[') + std::string(200, ']'));
  REQUIRE_FALSE(deep.ok());
  CHECK(deep.failure().code() == BH_INVALID_ARGUMENT);
  CHECK_FALSE(json::parse_object("[1]").ok());
  CHECK(json::parse_object("").ok());
}
