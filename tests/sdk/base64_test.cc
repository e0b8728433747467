#include <bulkhead/base64.hpp>

#include "support/catch.h"

namespace base64 = bulkhead::base64;

TEST_CASE("bytes become text as the RFC has it") {
  const std::pair<std::string_view, const char*> rows[] = {
      {"", ""},           {"f", "Zg=="},         {"fo", "Zm8="},
      {"foo", "Zm9v"},    {"foob", "Zm9vYg=="},  {"\xff\xfe\xfd\xfc", "//79/A=="},
      {"\xfb\xef\xbe", "++++"}};
  for (const auto& [bytes, text] : rows) {
    INFO(text);
    CHECK(base64::encode(bytes) == text);
    const auto back = base64::decode(text);
    REQUIRE(back);
    CHECK(*back == bytes);
  }
  std::string out = "data:";
  base64::append(out, "fo");
  CHECK(out == "data:Zm8=");
}

TEST_CASE("every byte comes back") {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  CHECK(base64::decode(base64::encode(all)) == all);
}

TEST_CASE("text that nobody would have written is refused") {
  for (const char* wrong : {"Zm8", "Zm9=", "Z===", "Z", "=", "====", "Zm8=x", "Zm8==", "Zm 8", "!!!!",
                            "Zm8=\n", "Zg==Zg==", "-_-_"}) {
    INFO(wrong);
    CHECK_FALSE(base64::decode(wrong));
  }
}
