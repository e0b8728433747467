// Archives that were made to harm: each is refused with its reason or does nothing outside, and
// nothing half-made stays.
#include <unistd.h>

#include "images/unpack.h"
#include "imports.h"

using namespace bh_test;
namespace json = bh::json;

namespace {

struct Row {
  const char* what;
  std::vector<TarEntry> entries;
  bh_status code;
  const char* reason;
};

std::string deep(int parts) {
  std::string out;
  for (int i = 0; i < parts; i++) out += "d/";
  return out + "x";
}

}  // namespace

TEST_CASE("entries that lead out of the root are refused") {
  Store store;
  const std::string outside = store.place.path + "/outside";
  std::ofstream(outside) << "kept";
  const std::string up = "../../../../../../../../.." + outside;
  const std::vector<Row> rows = {
      {"upwards", {file("../x", "1")}, BH_INVALID_ARGUMENT, "image_unsafe"},
      {"upwards within", {file("a/../../x", "1")}, BH_INVALID_ARGUMENT, "image_unsafe"},
      {"upwards, a folder", {folder("a/../..")}, BH_INVALID_ARGUMENT, "image_unsafe"},
      {"upwards, to a file", {file(up, "1")}, BH_INVALID_ARGUMENT, "image_unsafe"},
      {"through a link", {soft_link("l", store.place.path), file("l/outside", "1")}, BH_INVALID_ARGUMENT, "image_unsafe"},
      {"through a relative link", {soft_link("l", "../../.."), file("l/x", "1")}, BH_INVALID_ARGUMENT, "image_unsafe"},
      {"through a link to a link", {soft_link("a", "/tmp"), soft_link("b", "a"), file("b/x", "1")}, BH_INVALID_ARGUMENT, "image_unsafe"},
      {"a folder through a link", {soft_link("l", "/tmp"), folder("l/x")}, BH_INVALID_ARGUMENT, "image_unsafe"},
      {"a link through a link", {soft_link("l", "/tmp"), soft_link("l/x", "y")}, BH_INVALID_ARGUMENT, "image_unsafe"},
      {"a hard link to outside", {hard_link("l", up)}, BH_INVALID_ARGUMENT, "image_unsafe"},
      {"a hard link through a link", {soft_link("l", store.place.path), hard_link("h", "l/outside")}, BH_INVALID_ARGUMENT, "image_unsafe"},
      {"a hard link's name through a link", {file("f", "1"), soft_link("l", "/tmp"), hard_link("l/h", "f")}, BH_INVALID_ARGUMENT, "image_unsafe"},
      {"a hard link to nothing", {hard_link("h", "none")}, BH_DATA_LOSS, "image_broken"},
      {"a hard link to a folder", {folder("d"), hard_link("h", "d")}, BH_DATA_LOSS, "image_broken"},
      {"a file as the root", {file(".", "1")}, BH_INVALID_ARGUMENT, "image_unsafe"},
      {"a link as the root", {soft_link(".", "/etc")}, BH_INVALID_ARGUMENT, "image_unsafe"},
      {"a name too long", {file(std::string(256, 'n'), "1")}, BH_RESOURCE_EXHAUSTED, "image_too_large"},
      {"a name of 64 KiB", {file(std::string(65536, 'n'), "1")}, BH_RESOURCE_EXHAUSTED, "image_too_large"},
      {"too deep", {file(deep(257), "1")}, BH_RESOURCE_EXHAUSTED, "image_too_large"},
      {"a path too long", {file(std::string(250, 'a') + "/" + deep(200) + "/" + std::string(3600, 'b'), "1")}, BH_RESOURCE_EXHAUSTED, "image_too_large"},
      {"a file of a petabyte", {[] { TarEntry e = file("f", ""); e.pax = {{"size", "1125899906842624"}}; return e; }()}, BH_RESOURCE_EXHAUSTED, "image_too_large"},
      {"an owner that is none", {[] { TarEntry e = file("f", ""); e.pax = {{"uid", "99999999999"}}; return e; }()}, BH_DATA_LOSS, "image_broken"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    Answer answer = store.import_bytes(tar_of(row.entries));
    CHECK(answer.fault.code == row.code);
    CHECK(answer.fault.has(row.reason));
    CHECK(store.folders().empty());
    CHECK(content_of(outside) == "kept");
  }
  CHECK(store.count() == 0);
}

TEST_CASE("what only looks like a way out stays beneath the root") {
  Store store;
  const std::string outside = store.place.path + "/absolute";
  REQUIRE(done(store.import_bytes(tar_of({
      file(outside, "1"),                                   // absolute: as inside
      soft_link("to-root", "/"), soft_link("up", "../../../../etc/passwd"),
      file("replaced", "1"), soft_link("replaced", "/etc/passwd"),  // later entries count
      soft_link("l", "/etc"), folder("l"), file("l/passwd", "mine"),
      file(".../x", "1"), hard_link("again", "/" + outside)}))));
  CHECK_FALSE(look(outside).there);
  const std::string root = store.root();
  CHECK(content_of(root + outside) == "1");
  CHECK(look(root + "/again").st.st_ino == look(root + outside).st.st_ino);
  CHECK(std::filesystem::read_symlink(root + "/replaced") == "/etc/passwd");
  CHECK(look(root + "/l").st.st_mode == (S_IFDIR | 0755u));
  CHECK(content_of(root + "/l/passwd") == "mine");
  CHECK(content_of(root + "/.../x") == "1");
}

TEST_CASE("a root's setuid program of an image gives nobody on the host anything") {
  Store store;
  REQUIRE(done(store.import_bytes(tar_of({file("su", "#!/bin/sh\nid -u\n", 06755)}))));
  CHECK((look(store.root() + "/su").st.st_mode & (S_ISUID | S_ISGID)) == 0);
  // And nobody else comes there at all.
  CHECK(look(store.place.path + "/d/images").mode() == 0700);
}

TEST_CASE("what is cut short or no archive is refused as that") {
  const std::string tar = tar_of({file("a", std::string(3000, 'x')), file("b", "2")});
  struct Cut {
    const char* what;
    std::string bytes;
    const char* reason;
  };
  const Cut rows[] = {
      {"nothing", "", "image_broken"},
      {"noise", std::string(5000, 'z'), "image_format"},
      {"zeros", std::string(10240, '\0'), "image_broken"},
      {"in a header", tar.substr(0, 4096 + 100), "image_broken"},
      {"in a file", tar.substr(0, 2000), "image_broken"},
      {"between entries", tar.substr(0, 4096 - 512), "image_broken"},
      {"a cut gzip", compressed(tar, "gzip").substr(0, 100), "image_broken"},
      {"a cut xz", compressed(tar, "xz").substr(0, 100), "image_broken"},
      {"a gzip of noise", compressed(std::string(5000, 'z'), "gzip"), "image_format"},
  };
  for (const Cut& row : rows) {
    INFO(row.what);
    Store store;
    Answer answer = store.import_bytes(row.bytes);
    CHECK(answer.fault.has(row.reason));
    CHECK(store.folders().empty());
    if (row.bytes.empty()) continue;
    CHECK(store.send(row.bytes, R"({"name":"s"})").fault.has(row.reason));
    CHECK(store.folders().empty());
  }
}

TEST_CASE("a gzip bomb ends early, whatever its form") {
  // 512 MiB of zeros, a hundred times compressed to half a megabyte.
  std::string tar = tar_of({file("zeros", std::string(std::size_t{300} << 20, '\0'))});
  const std::string bomb = compressed(tar, "gzip");
  REQUIRE(bomb.size() < (1u << 20));
  LayoutMaker maker;
  maker.layer(tar, bomb);
  tar = {};
  for (const std::string& bytes : {bomb, LayoutMaker::as_tar(maker.oci())}) {
    Store store;
    Answer answer = store.import_bytes(bytes);
    CHECK(answer.fault.code == BH_RESOURCE_EXHAUSTED);
    CHECK(answer.fault.has(R"("reason":"image_too_large","limit":"ratio=200")"));
    CHECK(store.folders().empty());
  }
}
