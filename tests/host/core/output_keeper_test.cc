#include "core/output_keeper.h"

#include <string>

#include "base/base64.h"
#include "base/json.h"
#include "support/catch.h"

namespace {

using bh::OutputKeeper;

std::string text_of(const OutputKeeper& keeper) {
  return std::string(bh::json::get_string(keeper.result(), "text"));
}

// What a keeper of 4 + 4 makes of the bytes, given in pieces of `piece`.
OutputKeeper kept(std::string_view bytes, std::size_t piece) {
  OutputKeeper keeper(4, 4);
  for (std::size_t i = 0; i < bytes.size(); i += piece) keeper.append(bytes.substr(i, piece));
  return keeper;
}

}  // namespace

TEST_CASE("what fits is kept whole") {
  for (std::size_t piece : {1u, 2u, 3u, 8u}) {
    CHECK(bh::json::print(OutputKeeper().result()) == R"({"text":"","bytes":0,"missing":0})");
    CHECK(bh::json::print(kept("abc", piece).result()) ==
          R"({"text":"abc","bytes":3,"missing":0})");
    CHECK(bh::json::print(kept("abcdefgh", piece).result()) ==
          R"({"text":"abcdefgh","bytes":8,"missing":0})");
  }
}

TEST_CASE("head and tail are kept, whatever the pieces") {
  std::string bytes;
  for (char c = 'a'; c <= 'z'; ++c) bytes += c;
  for (std::size_t size = 9; size <= bytes.size(); ++size) {
    for (std::size_t piece = 1; piece <= size; ++piece) {
      INFO(size << " bytes in pieces of " << piece);
      const OutputKeeper keeper = kept(bytes.substr(0, size), piece);
      const std::string gap = std::to_string(size - 8);
      CHECK(keeper.bytes() == size);
      CHECK(keeper.missing() == size - 8);
      CHECK(text_of(keeper) ==
            "abcd\n[... " + gap + " bytes left out ...]\n" + bytes.substr(size - 4, 4));
      CHECK(bh::json::get_int(keeper.result(), "missing") == static_cast<std::int64_t>(size - 8));
    }
  }
}

TEST_CASE("the gap cuts between characters") {
  // Both borders fall into a character; its bytes count as missing.
  const OutputKeeper keeper = kept("abcé____éxyz", 5);
  CHECK(text_of(keeper) == "abc\n[... 8 bytes left out ...]\nxyz");
  CHECK(bh::json::get_int(keeper.result(), "missing") == 8);
  CHECK(keeper.bytes() == 14);
  const OutputKeeper wide = kept("a😀____😀z", 3);
  CHECK(text_of(wide) == "a\n[... 12 bytes left out ...]\nz");
  // A character that just fits is not cut.
  CHECK(text_of(kept("abé____éyz", 5)) == "abé\n[... 4 bytes left out ...]\néyz");
}

TEST_CASE("what is not UTF-8 comes as base64") {
  const std::string bytes(
      "a\xFF"
      "b",
      3);
  const auto whole = kept(bytes, 1).result();
  CHECK(bh::base64::decode(bh::json::get_string(whole, "base64")).value() == bytes);
  CHECK_FALSE(whole.contains("text"));
  // A character that the stream itself does not end is no text either.
  CHECK(kept("ab\xC3", 1).result().contains("base64"));
  const auto cut = kept(
                       "\xFF"
                       "bcd____wxyz",
                       5)
                       .result();
  CHECK(bh::base64::decode(bh::json::get_string(cut, "base64")).value() ==
        "\xFF"
        "bcdwxyz");
  CHECK(bh::json::get_int(cut, "missing") == 4);
  // More stray continuation bytes than a character has.
  CHECK(kept("abcd____\x80\x80\x80\x80", 12).result().contains("base64"));
}

TEST_CASE("gigabytes pass in bounded memory") {
  OutputKeeper keeper;
  const std::string chunk(1 << 20, 'x');
  for (int i = 0; i < 2'048; ++i) keeper.append(chunk);
  keeper.append("end");
  CHECK(keeper.bytes() == (std::uint64_t{2'048} << 20) + 3);
  const std::string text = text_of(keeper);
  CHECK(text.size() < OutputKeeper::kHead + OutputKeeper::kTail + 64);
  CHECK(text.substr(text.size() - 4) == "xend");
}
