// bulkhead image, end to end.
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "cli/json.h"
#include "stage.h"
#include "support/skip.h"

using namespace bh::cli;
using bh_test::has;
using bh_test::lines;
using bh_test::Stage;

namespace {

// A tar of one small file, and of one setuid program where that is wished.
std::string small_tar(bool setuid = false) {
  std::string out;
  auto add = [&](const char* name, unsigned mode, const std::string& data) {
    char block[512] = {};
    std::strcpy(block, name);
    std::snprintf(block + 100, 8, "%07o", mode);
    std::snprintf(block + 108, 8, "%07o", 0u);
    std::snprintf(block + 116, 8, "%07o", 0u);
    std::snprintf(block + 124, 12, "%011o", static_cast<unsigned>(data.size()));
    std::snprintf(block + 136, 12, "%011o", 0u);
    std::memset(block + 148, ' ', 8);
    block[156] = '0';
    unsigned sum = 0;
    for (unsigned char c : block) sum += c;
    std::snprintf(block + 148, 8, "%06o", sum);
    out.append(block, sizeof block).append(data).append((512 - data.size() % 512) % 512, '\0');
  };
  add("etc/hello", 0644, "hello\n");
  if (setuid) add("bin/su", 04755, "x");
  return out.append(1024, '\0');
}

}  // namespace

TEST_CASE("image: import, list, inspect and rm, for people and as JSON") {
  Stage stage;
  Stage::Ran ran = stage.run({"image", "list"});
  CHECK(ran.code == 0);
  CHECK(has(ran.out, "There are no images"));
  const std::string path = stage.dir.write("project/debian.tar", small_tar(true));
  ran = stage.run({"image", "import", "debian.tar"});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  CHECK(has(ran.out, "imported debian: 4 files, "));
  CHECK(has(ran.err, "bulkhead: left out: 1 setuid or setgid bit\n"));
  CHECK(has(ran.err, "belong to you") == (::geteuid() != 0));
  ran = stage.run({"image", "import", "-", "--name", "piped", "--json"}, small_tar());
  CHECK(ran.code == 0);
  boost::json::object told = parse_object_or_empty(ran.out);
  CHECK(string_at(told, "name") == "piped");
  CHECK(told.at("source").is_null());
  CHECK(lines(ran.out) == 1);
  ran = stage.run({"image", "import", path, "--persona", "alice", "--name", "hers"});
  CHECK(ran.code == 0);

  ran = stage.run({"image", "list"});
  CHECK(has(ran.out, "IMAGE"));
  CHECK(lines(ran.out) == 4);
  CHECK(has(ran.out, "alice"));
  ran = stage.run({"image", "list", "--persona", "bob", "--json"});
  CHECK(int_at(parse_object_or_empty(ran.out), "count") == 2);
  CHECK_FALSE(has(ran.out, "hers"));

  ran = stage.run({"image", "inspect", "debian", "--json"});
  told = parse_object_or_empty(ran.out);
  CHECK(std::filesystem::is_regular_file(string_at(told, "root") + "/etc/hello"));
  CHECK(has(stage.run({"image", "inspect", "debian"}).out, "root "));

  CHECK(has(stage.run({"image", "rm", "debian"}).out, "it has others") == false);
  CHECK(has(stage.run({"image", "rm", "hers"}).err, "there is no image \"hers\""));
  CHECK(stage.run({"image", "rm", "hers", "--persona", "alice"}).out == "removed hers\n");
  CHECK_FALSE(std::filesystem::exists(string_at(told, "root")));
  CHECK(stage.run({"image", "rm", "piped"}).code == 0);
  CHECK(has(stage.run({"image", "list"}).out, "There are no images"));
}

TEST_CASE("image: what is refused says which part and what would help") {
  Stage stage;
  const std::string noise = stage.dir.write("noise", std::string(5000, 'z'));
  const std::string tar = stage.dir.write("a.tar", small_tar());
  struct Row {
    std::vector<std::string> words;
    const char* said;
  };
  const Row rows[] = {
      {{"image"}, "needs an action"},
      {{"image", "push"}, "no action \"push\""},
      {{"image", "import"}, "image import needs a file"},
      {{"image", "list", "x"}, "does not take \"x\""},
      {{"image", "import", "/none"}, "\"/none\" cannot be read"},
      {{"image", "import", noise}, "this is no image"},
      {{"image", "import", tar, "--name", "a b"}, "is no name for an image"},
      {{"image", "import", stage.home, "--persona", "alice"}, "is a folder"},
      {{"image", "rm", "none"}, "there is no image \"none\""},
      {{"image", "build", "agent-session", "--persona", "alice"}, "leave --persona out"},
      {{"run", "--image", "none", "--", "true"}, "there is no image \"none\""},
  };
  for (const Row& row : rows) {
    Stage::Ran ran = stage.run(row.words);
    CAPTURE(row.words, ran.err);
    CHECK(ran.code == 125);
    CHECK(has(ran.err, row.said));
    CHECK(ran.out.empty());
  }
  CHECK(stage.run({"image", "import", tar}).code == 0);
  const std::string other = stage.dir.write("b.tar", small_tar(true));
  Stage::Ran ran = stage.run({"image", "import", other, "--name", "a"});
  CHECK(has(ran.err, "another image \"a\""));
  CHECK(stage.run({"image", "import", other, "--name", "a", "--replace"}).code == 0);
  ran = stage.run({"image", "import", noise, "--json"});
  CHECK(has(ran.out, R"("reason":"image_format")"));
}

TEST_CASE("image build: what it takes is said before it begins") {
  Stage stage;
  Stage::Ran ran = stage.run({"image", "build", "agent-session", "--suite", "no such"});
  CHECK(ran.code == 125);
  if (::geteuid() != 0) {
    CHECK(has(ran.err, "building an image takes root"));
    return;
  }
  if (has(ran.err, "which is not there")) BH_SKIP(ran.err);
  CHECK(has(ran.err, "there is no release \"no such\""));
  CHECK(has(stage.run({"image", "build", "other"}).err, "there is no recipe \"other\""));
  // Nothing of either is left.
  const std::string images = stage.home + "/.local/share/bulkhead/images";
  CHECK((!std::filesystem::exists(images) || std::filesystem::is_empty(images)));
}
