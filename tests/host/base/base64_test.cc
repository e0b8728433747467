#include "base/base64.h"

#include <string>

#include "support/catch.h"

TEST_CASE("base64 there and back") {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"},
                                                       {"\xFF\xFE\xFB", "//77"}};
  for (const auto& [bytes, text] : cases) {
    CHECK(bh::base64::encode(bytes) == text);
    auto decoded = bh::base64::decode(text);
    REQUIRE(decoded);
    CHECK(*decoded == bytes);
  }
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  for (std::size_t size = 0; size <= all.size(); ++size) {
    auto decoded = bh::base64::decode(bh::base64::encode(all.substr(0, size)));
    REQUIRE(decoded);
    CHECK(*decoded == all.substr(0, size));
  }
}

TEST_CASE("what is not base64 is refused with its place") {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg==Zg==", "Z===", "====", "Zm9v\n", "Zm-v", "Zm 9",
                           "Zh==", "Zm9=", "=Zm9", "Zm=v"}) {
    INFO(text);
    auto decoded = bh::base64::decode(text);
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error().code == BH_INVALID_ARGUMENT);
    CHECK(decoded.error().details.find("\"base64\"") != std::string::npos);
    CHECK(decoded.error().message.find("at byte ") != std::string::npos);
  }
}
