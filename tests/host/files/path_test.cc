#include "files/path.h"

#include "base/json.h"
#include "support/catch.h"

namespace {

bh::Session session_of(const char* persona) {
  bh::Session out;
  out.persona = persona;
  return out;
}

}  // namespace

TEST_CASE("paths of the file store: relative, of whole parts, and nothing else") {
  const std::string part(bh::kMaxStorePart, 'a');
  std::string deep = "a";
  for (std::size_t i = 1; i < bh::kMaxStoreParts; i++) deep += "/a";
  std::string longest = part + "/" + part + "/" + part + "/";
  longest.append(bh::kMaxStorePath - longest.size(), 'b');
  for (const std::string& good :
       {std::string("a"), std::string("a/b.txt"), std::string("..."), std::string(".hidden/..x"),
        std::string("with space/\xC3\xA9"), std::string("back\\slash"), part, deep, longest}) {
    INFO(good);
    CHECK(bh::check_store_path(good, "/path"));
  }
  const std::string kBad[] = {"",        "/",       "/a",          "a/",        "a//b",     ".",
                              "..",      "a/./b",   "a/../b",      "../b/x",    "a/..",     "\xFF",
                              "a\xC0/b", std::string("a\0b", 3),   part + "a",  deep + "/a", longest + "b"};
  for (const std::string& bad : kBad) {
    INFO(bad);
    auto checked = bh::check_store_path(bad, "/to");
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == BH_INVALID_ARGUMENT);
    auto details = bh::json::parse_object(checked.error().details).value();
    CHECK(bh::json::get_string(details, "reason") == "path_invalid");
    CHECK(bh::json::get_string(details, "field") == "/to");
    CHECK_FALSE(bh::json::get_string(details, "remedy").empty());
    CHECK(bh::json::parse(bh::json::quote(checked.error().message)));
  }
  CHECK(bh::check_store_path("", "/path", true));
}

TEST_CASE("a persona's paths lie below its name; no name is anything but one part") {
  CHECK(*bh::stored_path(session_of("b"), "a/x") == "b/a/x");
  CHECK(*bh::stored_path(session_of("b"), "") == "b");
  for (const char* name : {"", "..", ".", "a/b", "A", "a b", "a\\b"}) {
    INFO(name);
    auto path = bh::stored_path(session_of(name), "x");
    REQUIRE_FALSE(path);
    CHECK(path.error().code == BH_INTERNAL);
  }
}
