// Layers, one upon the other: what a later one hides, replaces and adds.
#include <unistd.h>

#include "imports.h"

using namespace bh_test;
namespace json = bh::json;

namespace {

struct Case {
  const char* what;
  std::vector<std::vector<TarEntry>> layers;
  const char* names;  // that there are then
};

std::string image_of(const std::vector<std::vector<TarEntry>>& layers) {
  LayoutMaker maker;
  for (const auto& layer : layers) maker.layer(tar_of(layer));
  return LayoutMaker::as_tar(maker.oci());
}

}  // namespace

TEST_CASE("whiteouts hide what earlier layers had, and nothing of their own layer's") {
  const std::vector<Case> cases = {
      {"a file", {{file("a", "1"), file("b", "1")}, {file(".wh.a", "")}}, "b"},
      {"a folder", {{file("d/x/y", "1"), file("b", "1")}, {file(".wh.d", "")}}, "b"},
      {"deep", {{file("d/x/y", "1"), file("d/x/z", "1")}, {file("d/x/.wh.y", "")}}, "d d/x d/x/z"},
      {"then anew", {{file("d/x", "1")}, {file(".wh.d", ""), file("d/n", "2")}}, "d d/n"},
      {"anew, and the whiteout behind", {{file("d/x", "1")}, {file("d/n", "2"), file(".wh.d", "")}}, "d d/n"},
      {"opaque", {{file("d/x", "1"), file("d/y/z", "1")}, {file("d/.wh..wh.opq", ""), file("d/n", "2")}}, "d d/n"},
      {"opaque behind", {{file("d/x", "1"), file("d/y/z", "1")}, {file("d/y/n", "2"), file("d/.wh..wh.opq", "")}},
       "d d/y d/y/n"},
      {"opaque root", {{file("a", "1"), file("d/x", "1")}, {file(".wh..wh.opq", ""), file("n", "2")}}, "n"},
      {"of nothing", {{file("a", "1")}, {file(".wh.none", ""), file("no/folder/.wh.x", "")}}, "a"},
      {"bookkeeping", {{file("a", "1")}, {folder(".wh..wh.plnk"), file(".wh..wh.aufs", "")}}, "a"},
      {"and back again", {{file("a", "1")}, {file(".wh.a", "")}, {file("a", "3")}}, "a"},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    Store store;
    REQUIRE(done(store.import_bytes(image_of(c.layers))));
    CHECK(names_of(store.root()) == c.names);
  }
}

TEST_CASE("a whiteout in a plain root is a file as any other") {
  Store store;
  REQUIRE(done(store.import_bytes(tar_of({file("a", "1"), file(".wh.a", "")}))));
  CHECK(names_of(store.root()) == ".wh.a a");
}

TEST_CASE("layers come in their order: the later content, kind and rights hold") {
  Store store;
  REQUIRE(done(store.import_bytes(image_of({
      {file("f", "1"), file("was-file", "1"), folder("was-folder"), file("was-folder/x", "1"),
       soft_link("lib", "usr/lib"), file("usr/lib/old", "1"), folder("rights", 0700), file("a", "first")},
      {file("f", "2"), folder("was-file"), file("was-file/inner", "2"), file("was-folder", "2"),
       file("lib/new", "2"), folder("rights", 0511), hard_link("b", "a")},
      {file("a", "third")},
  }))));
  const std::string root = store.root();
  CHECK(content_of(root + "/f") == "2");
  CHECK(content_of(root + "/was-file/inner") == "2");
  CHECK(content_of(root + "/was-folder") == "2");
  // A folder of a later layer hides the link; nothing is written through it.
  CHECK(look(root + "/lib").st.st_mode == (S_IFDIR | 0755u));
  CHECK(names_of(root + "/lib") == "new");
  CHECK(names_of(root + "/usr/lib") == "old");
  CHECK(look(root + "/rights").mode() == (::geteuid() == 0 ? 0511 : 0711));
  // A second name keeps what it was given when the first is replaced.
  CHECK(content_of(root + "/b") == "first");
  CHECK(content_of(root + "/a") == "third");
}

TEST_CASE("whiteouts that point elsewhere do nothing there") {
  Store store;
  const std::string outside = store.write("outside", "kept");
  for (const char* name : {".wh...", ".wh..", ".wh.", "d/.wh..."}) {
    INFO(name);
    Answer answer = store.import_bytes(image_of({{file("d/a", "1")}, {file(name, "")}}));
    CHECK(answer.fault.has("image_unsafe"));
  }
  // Through a link of an earlier layer, and of its own.
  const std::string up = store.place.path;
  for (const auto& layers : std::vector<std::vector<std::vector<TarEntry>>>{
           {{soft_link("l", up)}, {file("l/.wh.outside", "")}},
           {{file("a", "1")}, {soft_link("l", up), file("l/.wh.outside", "")}},
           {{soft_link("l", up)}, {file("l/.wh..wh.opq", "")}}}) {
    (void)store.import_bytes(image_of(layers), R"(,"name":"l","replace":true)");
    CHECK(content_of(outside) == "kept");
  }
}

TEST_CASE("what is not as its digests say is refused, and nothing of it is kept") {
  LayoutMaker good;
  good.layer(tar_of({file("a", "1")}));
  good.layer(tar_of({file("b", "2")}));
  Store store;
  const struct {
    const char* what;
    void (*spoil)(LayoutMaker&);
    bool docker;
  } rows[] = {
      {"a layer's bytes", [](LayoutMaker& m) { m.lie_about_layer = true; }, false},
      {"a layer that is missing", [](LayoutMaker& m) { m.drop_last_layer = true; }, false},
      {"the order, by content", [](LayoutMaker& m) { m.swap_diff_ids = true; }, false},
      {"the order, by content", [](LayoutMaker& m) { m.swap_diff_ids = true; }, true},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    LayoutMaker bad = good;
    row.spoil(bad);
    Answer answer = store.import_bytes(LayoutMaker::as_tar(row.docker ? bad.docker() : bad.oci()));
    CHECK(answer.fault.code == BH_DATA_LOSS);
    CHECK(answer.fault.has("image_broken"));
    CHECK(store.folders().empty());
    CHECK(store.count() == 0);
  }
  // The manifest's, the configuration's and docker's own.
  for (const bool docker : {false, true}) {
    const LayoutMaker::Files files = docker ? good.docker() : good.oci();
    for (std::size_t i = 0; i < files.size(); i++) {
      const std::string& path = files[i].first;
      if (path.rfind("blobs/", 0) != 0 && path.find(".json") != 64) continue;
      INFO(path);
      LayoutMaker::Files bad = files;
      bad[i].second += " ";
      Answer answer = store.import_bytes(LayoutMaker::as_tar(bad));
      CHECK(answer.fault.has("image_broken"));
    }
  }
  CHECK(done(store.import_bytes(LayoutMaker::as_tar(good.oci()))));
}

TEST_CASE("faulty manifests are refused with what is wrong") {
  const std::pair<const char*, LayoutMaker::Files> rows[] = {
      {"index.json", {{"oci-layout", "{}"}, {"index.json", "[]"}}},
      {"manifests", {{"oci-layout", "{}"}, {"index.json", "{}"}}},
      {"digest", {{"oci-layout", "{}"}, {"index.json", R"({"manifests":[{"digest":"md5:1"}]})"}}},
      {"digest", {{"oci-layout", "{}"}, {"index.json", R"({"manifests":[{"digest":"sha256:../../x"}]})"}}},
      {"not there",
       {{"oci-layout", "{}"},
        {"index.json", R"({"manifests":[{"digest":"sha256:)" + std::string(64, 'a') + "\"}]}"}}},
      {"not there", {{"manifest.json", R"([{"Config":"c.json","Layers":["l"]}])"}}},
      {"layers", {{"manifest.json", R"([{"Config":"c.json","Layers":["l"]},1])"}}},
  };
  for (const auto& [word, files] : rows) {
    Store store;
    Answer answer = store.import_bytes(LayoutMaker::as_tar(files));
    INFO(word << ": " << answer.fault.message);
    CHECK(answer.last == BH_EVENT_FAULT);
    CHECK((answer.fault.has("image_broken") || answer.fault.has("image_ambiguous")));
    CHECK(store.folders().empty());
  }
  // Somebody else's file of that name.
  Store store;
  CHECK(done(store.import_bytes(tar_of({file("manifest.json", R"({"name":"my app"})"), file("a", "1")}))));
  CHECK(names_of(store.root()) == "a manifest.json");
}
