#include "base/own_folder.h"
#include "loader/search.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "host/loader/folder.h"
#include "support/catch.h"

using bh_test::Folder;

namespace {

// The environment of this process for one test.
class Environment {
 public:
  void set(const char* name, const std::string& value) {
    const char* old = ::getenv(name);
    old_.push_back({name, old == nullptr ? "" : old, old != nullptr});
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    for (auto each = old_.rbegin(); each != old_.rend(); ++each) {
      if (each->was_set) {
        ::setenv(each->name.c_str(), each->value.c_str(), 1);
      } else {
        ::unsetenv(each->name.c_str());
      }
    }
  }

 private:
  struct Old {
    std::string name, value;
    bool was_set;
  };
  std::vector<Old> old_;
};

bh::SearchOptions nothing() {
  bh::SearchOptions options;
  options.environment = options.user = options.relative = options.system = false;
  return options;
}

void plugin(const Folder& folder, const std::string& below) {
  folder.make(below);
  folder.write(below + "/plugin.json", "{}");
}

}  // namespace

TEST_CASE("the sources come in their order, and each can be switched off") {
  Folder folder;
  for (const char* place : {"config/a", "environment/b", "data/bulkhead/plugins/c"}) {
    plugin(folder, place);
  }
  Environment environment;
  environment.set("BH_PLUGIN_PATH", ":" + folder.path + "/environment:" + folder.path + "/none");
  environment.set("XDG_DATA_HOME", folder.path + "/data");
  bh::SearchOptions options;
  options.path = {folder.path + "/config"};
  const auto found = bh::search_plugins(options);
  REQUIRE(found.folders.size() >= 3);
  CHECK(found.folders[0].path == folder.path + "/config/a");
  CHECK(found.folders[1].path == folder.path + "/environment/b");
  CHECK(found.folders[2].path == folder.path + "/data/bulkhead/plugins/c");
  std::vector<std::string> sources;
  for (const auto& place : found.places) {
    if (sources.empty() || sources.back() != place.source) sources.push_back(place.source);
  }
  CHECK(sources == std::vector<std::string>{"config", "environment", "user", "relative", "system"});

  const auto off = bh::search_plugins(nothing());
  CHECK(off.folders.empty());
  REQUIRE(off.places.size() == 4);
  for (const auto& place : off.places) {
    CHECK(place.status == "off");
    CHECK(place.message == "switched off by plugins." + place.source);
  }
}

TEST_CASE("each place says what became of it") {
  Folder folder;
  plugin(folder, "one/a");
  plugin(folder, "one/b");
  folder.make("one/no_plugin");
  folder.make("one/.hidden");
  folder.write("one/file.txt", "text");
  folder.make("open", 0777);
  bh::SearchOptions options = nothing();
  options.path = {folder.path + "/one", folder.path + "/one/../one", folder.path + "/open",
                  folder.path + "/none", "relative"};
  const auto found = bh::search_plugins(options);
  CHECK(found.folders.size() == 2);
  const auto say = [&](size_t i) {
    return found.places[i].status + ": " + found.places[i].message;
  };
  CHECK(say(0) == "searched: 2 plugin folders");
  CHECK(say(1) == "searched: the same folder as one above");
  CHECK(say(2).find("refused: " + folder.path + "/open is writable by everybody") == 0);
  CHECK(say(3) == "absent: there is no such folder");
  CHECK(say(4).find("refused: \"relative\" is not an absolute path") == 0);
}

TEST_CASE("a place may be one plugin's own folder") {
  Folder folder;
  plugin(folder, "mine");
  bh::SearchOptions options = nothing();
  options.path = {folder.path + "/mine"};
  const auto found = bh::search_plugins(options);
  REQUIRE(found.folders.size() == 1);
  CHECK(found.folders[0].path == folder.path + "/mine");
  CHECK(found.places[0].message == "is one plugin's own folder");
}

TEST_CASE("a folder that is not safe is listed, not read") {
  Folder folder;
  plugin(folder, "all/open");
  ::chmod((folder.path + "/all/open").c_str(), 0777);
  bh::SearchOptions options = nothing();
  options.path = {folder.path + "/all"};
  const auto found = bh::search_plugins(options);
  REQUIRE(found.folders.size() == 1);
  CHECK_FALSE(found.folders[0].folder);
}

TEST_CASE("the folder that this code lies in is known") {
  CHECK(std::filesystem::exists(bh::own_folder() + "/host_loader_test"));
}
