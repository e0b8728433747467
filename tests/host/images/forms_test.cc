// Images in each form they come in: what is unpacked, what is told, and what is left out.
#include <unistd.h>

#include "imports.h"

using namespace bh_test;
namespace json = bh::json;

namespace {

// A root with one of each.
std::vector<TarEntry> some_root() {
  TarEntry owned = file("usr/bin/tool", "#!/bin/sh\n", 04755);
  owned.uid = 5;
  owned.gid = 6;
  TarEntry capable = file("usr/bin/ping", "x", 0755);
  capable.pax = {{"SCHILY.xattr.security.capability", "abc"},
                 {"SCHILY.xattr.trusted.overlay.opaque", "y"},
                 {"SCHILY.xattr.user.note", "n"}};
  return {folder("./"),          folder("usr/"),           folder("usr/bin/", 02755),
          soft_link("bin", "usr/bin"), owned,                hard_link("usr/bin/again", "usr/bin/tool"),
          capable,               special("dev/null", '3'), special("dev/disk", '4'),
          special("run/pipe", '6'), folder("closed", 0555), file("closed/secret", "s", 0),
          file(std::string("caf\xe9"), "bytes")};
}

void check_some_root(Store& store, const std::string& root) {
  const bool owners = ::geteuid() == 0;
  CHECK(content_of(root + "/usr/bin/tool") == "#!/bin/sh\n");
  const Looked tool = look(root + "/usr/bin/tool"), again = look(root + "/usr/bin/again");
  CHECK(tool.mode() == 0755);  // no setuid
  CHECK(look(root + "/usr/bin").mode() == 0755);
  CHECK(tool.st.st_ino == again.st.st_ino);
  CHECK(tool.st.st_uid == (owners ? 5 : ::geteuid()));
  CHECK(tool.st.st_mtime == 1000000000);
  CHECK(std::filesystem::read_symlink(root + "/bin") == "usr/bin");
  CHECK_FALSE(look(root + "/dev").there);
  CHECK_FALSE(look(root + "/run").there);
  CHECK(look(root + "/closed").mode() == (owners ? 0555 : 0755));
  CHECK(look(root + "/closed/secret").mode() == (owners ? 0 : 0600));
  CHECK(content_of(root + "/caf\xe9") == "bytes");
  CHECK(look(root).mode() == 0755);
  CHECK(look(root + "/../..").mode() == 0700);
  const json::object told = store.inspect("i");
  CHECK(json::print(told.at("left_out")) == R"({"devices":3,"set_ids":2,"xattrs":1})");
  CHECK(json::get_bool(told, "ids_kept") == owners);
}

}  // namespace

TEST_CASE("a tar of a root, in each compression, from a path and as a stream") {
  const std::string tar = tar_of(some_root());
  for (const char* filter : {"", "gzip", "bzip2", "xz", "lzma", "zstd", "lz4", "compress"}) {
    INFO("filter " << filter);
    const std::string bytes = *filter == '\0' ? tar : compressed(tar, filter);
    if (bytes.empty()) continue;
    Store store;
    Answer answer = store.import_bytes(bytes);
    REQUIRE(done(answer));
    const json::object told = json::parse_object(answer.result).value();
    CHECK(json::get_string(told, "kind") == "tar");
    CHECK(json::get_string(told, "digest") == "sha256:" + sha256(bytes));
    CHECK(json::get_bool(told, "fresh"));
    CHECK(json::get_int(told, "size") > 0);
    check_some_root(store, store.root());
    answer = store.send(bytes, R"({"name":"sent"})", store.by_operator);
    REQUIRE(done(answer));
    CHECK_FALSE(json::get_bool(json::parse_object(answer.result).value(), "fresh"));
    CHECK(store.root("sent") == store.root());
    CHECK(store.folders().size() == 1);
  }
}

TEST_CASE("a folder: its digest is of its content, whatever its times; names of one file stay so") {
  Store store;
  const std::string source = store.place.path + "/tree";
  auto fill = [&](const std::string& to) {
    std::filesystem::create_directories(to + "/a/b");
    std::ofstream(to + "/a/one") << "1";
    std::filesystem::create_hard_link(to + "/a/one", to + "/two");
    std::filesystem::create_symlink("/etc", to + "/link");
    REQUIRE(::chmod((to + "/two").c_str(), 04711) == 0);
    REQUIRE(::mkfifo((to + "/pipe").c_str(), 0600) == 0);
  };
  fill(source);
  Answer answer = store.import(source, R"(,"name":"i")");
  REQUIRE(done(answer));
  const json::object told = json::parse_object(answer.result).value();
  CHECK(json::get_string(told, "kind") == "folder");
  CHECK(names_of(store.root()) == "a a/b a/one link two");
  CHECK(look(store.root() + "/two").mode() == 0711);
  CHECK(look(store.root() + "/two").st.st_ino == look(store.root() + "/a/one").st.st_ino);
  CHECK(std::filesystem::read_symlink(store.root() + "/link") == "/etc");
  fill(store.place.path + "/copy");
  CHECK(done(store.import(store.place.path + "/copy", R"(,"name":"same")")));
  CHECK(store.root("same") == store.root());
  std::ofstream(source + "/a/one") << "2";
  CHECK(done(store.import(source, R"(,"name":"other")")));
  CHECK(store.root("other") != store.root());
  // Its folder's name, where none is given.
  CHECK(done(store.import(source + "/")));
  CHECK(store.root("tree") == store.root("other"));
}

TEST_CASE("a layout of OCI and what docker saves, as folders and as tars, name and configuration with them") {
  LayoutMaker maker;
  maker.layer(tar_of({folder("etc"), file("etc/one", "1"), file("bin/sh", "x", 0755)}));
  const std::string second = tar_of({file("etc/two", "2")});
  maker.layer(second, compressed(second, "gzip"));
  for (const bool oci : {true, false}) {
    const LayoutMaker::Files files = oci ? maker.oci() : maker.docker();
    for (const char* form : {"folder", "tar", "gzip", "stream"}) {
      INFO((oci ? "oci " : "docker ") << form);
      Store store;
      Answer answer;
      const std::string tar = LayoutMaker::as_tar(files);
      if (form == std::string("folder")) {
        LayoutMaker::write(files, store.place.path + "/layout");
        answer = store.import(store.place.path + "/layout");
      } else if (form == std::string("stream")) {
        answer = store.send(tar, "{}", store.by_operator);
      } else {
        answer = store.import(store.write("x", form == std::string("tar") ? tar : compressed(tar, "gzip")));
      }
      REQUIRE(done(answer));
      const json::object told = json::parse_object(answer.result).value();
      CHECK(json::get_string(told, "name") == "example/app:1");
      CHECK(json::get_string(told, "kind") == (oci ? "oci" : "docker"));
      CHECK(json::get_string(told, "os") == "linux");
      CHECK(json::print(told.at("config")) ==
            R"({"Env":["PATH=/bin","A=b"],"WorkingDir":"/w","User":"u"})");
      CHECK(names_of(store.root("example/app:1")) == "bin bin/sh etc etc/one etc/two");
      // Of the manifest, or the configuration, as it is called there.
      const std::string digest(json::get_string(told, "digest"));
      const std::string named = oci ? "blobs/sha256/" + digest.substr(7) : digest.substr(7) + ".json";
      CHECK(std::any_of(files.begin(), files.end(), [&](const auto& f) { return f.first == named; }));
      CHECK(store.folders().size() == 1);
    }
  }
}

TEST_CASE("older docker names a layer by a link; one that leads out is refused") {
  LayoutMaker maker;
  const std::string layer = tar_of({file("a", "1")});
  maker.layer(layer);
  maker.layer(layer);
  auto with = [&](const std::string& to) {
    Tar tar;
    for (const auto& [path, data] : maker.docker()) {
      tar.add(path == "layer1/layer.tar" ? soft_link(path, to) : file(path, data));
    }
    return tar.bytes();
  };
  Store store;
  CHECK(done(store.import_bytes(with("../layer0/layer.tar"))));
  Answer answer = store.import_bytes(with("../../outside.tar"), R"(,"name":"j")");
  CHECK(answer.fault.has("image_unsafe"));
  answer = store.import_bytes(with("/etc/passwd"), R"(,"name":"j")");
  CHECK(answer.fault.has("image_unsafe"));
}

TEST_CASE("of several images one is named; another machine's is taken only when asked for") {
  LayoutMaker one, two;
  one.layer(tar_of({file("one", "1")}));
  two.layer(tar_of({file("two", "2")}));
  one.name = "app:1";
  two.name = "app:2";
  two.prefix = "other-";
  // manifest.json is docker's last; the two lists become one.
  LayoutMaker::Files merged = one.docker();
  std::string list = merged.back().second;
  merged.pop_back();
  for (const auto& f : two.docker()) merged.push_back(f);
  list.back() = ',';
  merged.back().second = list + merged.back().second.substr(1);
  Store store;
  const std::string both = LayoutMaker::as_tar(merged);
  Answer answer = store.import_bytes(both);
  CHECK(answer.fault.code == BH_INVALID_ARGUMENT);
  CHECK(answer.fault.has(R"("reason":"image_ambiguous","field":"/reference","known":"app:1, app:2")"));
  CHECK(done(store.import_bytes(both, R"(,"name":"i","reference":"app:2")")));
  CHECK(names_of(store.root()) == "two");
  answer = store.import_bytes(both, R"(,"name":"j","reference":"3")");
  CHECK(answer.fault.has("image_ambiguous"));

  LayoutMaker foreign;
  foreign.layer(tar_of({file("a", "1")}));
  foreign.arch = "s390x";
  for (const auto& files : {foreign.oci(), foreign.docker()}) {
    answer = store.import_bytes(LayoutMaker::as_tar(files), R"(,"name":"foreign")");
    CHECK(answer.fault.code == BH_FAILED_PRECONDITION);
    CHECK(answer.fault.has(R"("reason":"image_platform","known":"linux/s390x")"));
  }
  CHECK(done(store.import_bytes(LayoutMaker::as_tar(foreign.oci()),
                                R"(,"name":"foreign","platform":"linux/s390x")")));
}

TEST_CASE("sparse files stay sparse, from a tar and from a folder") {
  Store store;
  std::filesystem::create_directories(store.place.path + "/tree");
  const std::string path = store.place.path + "/tree/sparse";
  std::ofstream(path) << "begin";
  REQUIRE(::truncate(path.c_str(), 64 << 20) == 0);
  CHECK(done(store.import(store.place.path + "/tree", R"(,"name":"i")")));
  Looked found = look(store.root() + "/sparse");
  CHECK(found.st.st_size == 64 << 20);
  CHECK(found.st.st_blocks < 2048);
  CHECK(content_of(store.root() + "/sparse").substr(0, 5) == "begin");

  TarEntry sparse = file("big", std::string("1\n1000000\n5\n").append(512 - 12, '\0') + "hello");
  sparse.pax = {{"GNU.sparse.major", "1"}, {"GNU.sparse.minor", "0"}, {"GNU.sparse.name", "big"},
                {"GNU.sparse.realsize", "67108864"}};
  CHECK(done(store.import_bytes(tar_of({sparse}), R"(,"name":"tar")")));
  found = look(store.root("tar") + "/big");
  CHECK(found.st.st_size == 64 << 20);
  CHECK(found.st.st_blocks < 2048);
  CHECK(content_of(store.root("tar") + "/big").substr(1000000, 5) == "hello");
}
