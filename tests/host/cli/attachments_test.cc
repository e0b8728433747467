#include "cli/attachments.h"

#include "support/catch.h"
#include "temp_dir.h"

using namespace bh::cli;

TEST_CASE("a tool cannot choose where its attachment goes") {
  CHECK(file_name_of("a.png") == "a.png");
  CHECK(file_name_of("../../etc/passwd") == "passwd");
  CHECK(file_name_of("/etc/") == "etc");
  CHECK(file_name_of("..") == "attachment");
  CHECK(file_name_of("") == "attachment");
  CHECK(file_name_of(".bashrc") == "bashrc");
  CHECK(file_name_of("a\nb\x1b") == "ab");
}

TEST_CASE("attachments are described, or saved beside what is there") {
  bh_test::TempDir dir;
  Attachments described;
  described.add("shot.png", "image/png", "12345");
  REQUIRE(described.lines().size() == 1);
  CHECK(described.lines()[0] == "attached: shot.png (image/png, 5 bytes); --output DIR saves it");

  Attachments saved;
  REQUIRE(saved.save_to(dir.path() + "/out"));
  dir.write("out/shot.png", "mine");
  dir.write("elsewhere", "untouched");
  std::filesystem::create_symlink(dir.path() + "/elsewhere", dir.path() + "/out/link");
  saved.add("shot.png", "image/png", "12345");
  saved.add("link", "text/plain", "abc");
  CHECK(saved.problems().empty());
  CHECK(dir.read("out/shot.png") == "mine");
  CHECK(dir.read("out/shot-2.png") == "12345");
  CHECK(dir.read("elsewhere") == "untouched");
  CHECK(dir.read("out/link-2") == "abc");
}

TEST_CASE("an attachment in pieces is saved as it comes, and half of one is not kept") {
  bh_test::TempDir dir;
  Attachments described;
  described.begin(7, "film", "video/mp4");
  described.append(7, "12345");
  CHECK(described.lines().empty());
  described.end(7);
  REQUIRE(described.lines().size() == 1);
  CHECK(described.lines()[0] == "attached: film (video/mp4, 5 bytes); --output DIR saves it");
  {
    Attachments saved;
    REQUIRE(saved.save_to(dir.path() + "/out"));
    saved.begin(7, "film", "video/mp4");
    saved.begin(8, "film", "video/mp4");
    saved.append(7, "123");
    saved.append(8, "abc");
    saved.append(7, "45");
    saved.append(9, "nobody's");
    saved.end(7);
    CHECK(saved.problems().empty());
    CHECK(saved.lines().size() == 1);
    CHECK(dir.read("out/film") == "12345");
    CHECK(std::filesystem::exists(dir.path() + "/out/film-2"));
  }
  CHECK(std::filesystem::exists(dir.path() + "/out/film"));
  CHECK_FALSE(std::filesystem::exists(dir.path() + "/out/film-2"));
}

TEST_CASE("a folder that cannot be made is refused") {
  Attachments a;
  CHECK_FALSE(a.save_to("/proc/nowhere/out"));
}
