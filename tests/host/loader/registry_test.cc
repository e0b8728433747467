// The registry over plugins that are linked in, and over folders with manifests alone; what takes
// real libraries is in tests/broken.
#include "loader/registry.h"

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/json.h"
#include "host/loader/folder.h"
#include "loader/names.h"
#include "support/bare_caller.h"
#include "support/catch.h"

namespace {

using bh_test::BareCaller;
using bh_test::Folder;

int shutdowns = 0;
const bh_host* last_host = nullptr;

const bh_plugin* linked_in(bh_call*) {
  static const bh_toolset tools = [] {
    bh_toolset table{};
    table.struct_size = sizeof table;
    table.list = [](void*, bh_call*) -> bh_status { return BH_OK; };
    table.call = [](void*, bh_call*, const char*, size_t, const char*, size_t,
                    const bh_blob* const*, size_t) -> bh_status { return BH_OK; };
    return table;
  }();
  static const bh_provider provider = {
      sizeof provider, 0,       "inside", "Inside", "{\"type\":\"object\"}", "{}",
      nullptr,         nullptr, nullptr,  &tools};
  static const bh_provider* const items[] = {&provider};
  static const bh_provider_list list = {sizeof list, 1, items};
  static const bh_plugin plugin = {
      sizeof plugin,
      0,
      "org.example.inside",
      "Inside",
      "1.0",
      "Example",
      "MIT",
      [](const char* id) -> const void* { return std::string(id) == BH_TOOLSET ? &list : nullptr; },
      [](const bh_host* host) {
        ++shutdowns;
        last_host = host;
      }};
  return &plugin;
}

// Remembers what is logged, as the host's log would.
class ListeningCaller : public bh::PluginCaller {
 public:
  struct Record {
    int32_t level;
    std::string text;
  };

  ListeningCaller() {
    api_ = *bare_.host()->api;
    api_.log = [](const bh_host* host, const bh_call*, int32_t level, const char* text, size_t size,
                  const char*, size_t) {
      static_cast<const View*>(host)->records->push_back({level, std::string(text, size)});
    };
    view_.api = &api_;
    view_.records = &records;
  }
  bh::Result<const bh_plugin*> enter(bh::PluginEntry entry, const std::string&) override {
    return entry(bare_.call());
  }
  const bh_host* host(const std::string&) override { return &view_; }

  std::vector<Record> records;

 private:
  struct View : bh_host {
    std::vector<Record>* records = nullptr;
  };
  bh::probe::BareCall bare_;
  bh_host_api api_{};
  View view_;
};

const bh_plugin* throws_at_shutdown(bh_call* call) {
  static bh_plugin plugin = *linked_in(call);
  plugin.shutdown = [](const bh_host*) { throw std::runtime_error("too late"); };
  return &plugin;
}

const bh_plugin* throws_a_number_at_shutdown(bh_call* call) {
  static bh_plugin plugin = *linked_in(call);
  plugin.shutdown = [](const bh_host*) { throw 7; };
  return &plugin;
}

const bh_plugin* throws(bh_call*) { throw std::runtime_error("on purpose"); }

bh::RegistryOptions only(const std::vector<std::string>& path) {
  bh::RegistryOptions options;
  options.search.path = path;
  options.search.environment = options.search.user = false;
  options.search.relative = options.search.system = false;
  return options;
}

// A folder that has everything but a real library.
void install(const Folder& folder, const std::string& below, const std::string& id,
             const std::string& provider) {
  const std::string platform(bh::own_platform());
  folder.make(below);
  folder.write(below + "/a.so", "no library");
  folder.write(below + "/plugin.json",
               R"({"manifest_version":1,"id":")" + id +
                   R"(","name":"A","version":"1","vendor":"Example","license":"MIT",)" +
                   R"("abi":{"major":1,"min_minor":0},"provides":[{"interface":"bh.toolset/1",)" +
                   R"("id":")" + provider + R"("}],"library":{")" + platform + R"(":"a.so"}})");
}

bh::json::object line(const bh::Registry& registry, size_t i) {
  return registry.report().at("plugins").as_array().at(i).as_object();
}

std::string text(const bh::json::object& object, const char* key) {
  return std::string(bh::json::get_string(object, key));
}

}  // namespace

TEST_CASE("a plugin that is linked in goes through the same checks and comes first") {
  shutdowns = 0;
  Folder folder;
  install(folder, "all/copy", "org.example.inside", "inside");
  BareCaller caller;
  {
    bh::Registry registry(only({folder.path + "/all"}), caller);
    REQUIRE(registry.register_static(&linked_in));
    registry.scan();
    const auto found = registry.find(BH_TOOLSET, "inside");
    REQUIRE(found);
    CHECK((*found)->plugin == "org.example.inside");
    CHECK(registry.providers(BH_TOOLSET) == std::vector<const bh::Provider*>{*found});
    CHECK(registry.declared(BH_TOOLSET) == std::vector<std::string>{"inside"});
    CHECK(text(line(registry, 0), "status") == "loaded");
    CHECK(text(line(registry, 0), "source") == "static");
    CHECK(text(line(registry, 1), "status") == "shadowed");
    registry.shutdown();
    CHECK(shutdowns == 1);
    CHECK(last_host == caller.host(caller.entered[0]));
    const auto closed = registry.find(BH_TOOLSET, "inside");
    REQUIRE_FALSE(closed);
    CHECK(closed.error().code == BH_FAILED_PRECONDITION);
  }
  CHECK(shutdowns == 1);
}

TEST_CASE("an entry that throws is an answer, not an end") {
  BareCaller caller;
  bh::Registry registry(only({}), caller);
  const auto answer = registry.register_static(&throws);
  REQUIRE_FALSE(answer);
  CHECK(answer.error().message.find("its entry threw \"on purpose\"") != std::string::npos);
  CHECK(text(line(registry, 0), "status") == "failed");
  CHECK(registry.find(BH_TOOLSET, "inside").error().code == BH_NOT_FOUND);
}

TEST_CASE("what a plugin throws at its shutdown is told in the host's log") {
  for (const auto& [entry, said] :
       {std::pair{&throws_at_shutdown, "threw \"too late\" in shutdown()"},
        std::pair{&throws_a_number_at_shutdown, "threw something that is no std::exception"}}) {
    ListeningCaller caller;
    bh::Registry registry(only({}), caller);
    REQUIRE(registry.register_static(entry));
    registry.shutdown();
    REQUIRE(caller.records.size() == 1);
    CHECK(caller.records[0].level == BH_LOG_PLUGIN_MISUSE);
    CHECK(caller.records[0].text.rfind(said, 0) == 0);
  }
}

TEST_CASE("listing loads nothing; the first need does, and says what is wrong") {
  Folder folder;
  install(folder, "all/a", "org.example.a", "one");
  BareCaller caller;
  bh::Registry registry(only({folder.path + "/all"}), caller);
  registry.scan();
  CHECK(registry.declared(BH_TOOLSET) == std::vector<std::string>{"one"});
  CHECK(text(line(registry, 0), "status") == "available");
  const auto found = registry.find(BH_TOOLSET, "one");
  REQUIRE_FALSE(found);
  CHECK(found.error().code == BH_FAILED_PRECONDITION);
  CHECK(found.error().message ==
        "plugin org.example.a cannot be used: not a shared library: it is no ELF file");
  CHECK(found.error().details.find("\"plugin_refused\"") != std::string::npos);
  CHECK(text(line(registry, 0), "status") == "refused");
  CHECK(text(line(registry, 0), "stage") == "elf");
  CHECK(registry.declared(BH_TOOLSET).empty());
  CHECK(caller.entered.empty());
}

TEST_CASE("the first of an id wins, the disabled never does, a taken name is told") {
  Folder folder;
  install(folder, "first/a", "org.example.a", "one");
  install(folder, "second/a", "org.example.a", "one");
  install(folder, "second/b", "org.example.b", "one");
  install(folder, "second/c", "org.example.c", "two");
  BareCaller caller;
  bh::RegistryOptions options = only({folder.path + "/first", folder.path + "/second"});
  options.disabled = {"org.example.c"};
  bh::Registry registry(std::move(options), caller);
  registry.scan();
  CHECK(text(line(registry, 0), "status") == "available");
  CHECK(text(line(registry, 1), "status") == "shadowed");
  CHECK(text(line(registry, 1), "message") == folder.path + "/first/a comes first");
  CHECK(text(line(registry, 1), "hint").find("plugins.path") != std::string::npos);
  CHECK(text(line(registry, 3), "hint") == "take org.example.c off plugins.disabled to use it");
  CHECK(text(line(registry, 2), "message") ==
        "bh.toolset/1 \"one\" is already offered by org.example.a");
  CHECK(text(line(registry, 3), "status") == "disabled");
  CHECK(registry.find(BH_TOOLSET, "two").error().code == BH_PERMISSION_DENIED);
}

TEST_CASE("the folders that sandboxes must not see are known, without links") {
  Folder folder;
  install(folder, "real/a", "org.example.a", "one");
  std::filesystem::create_directory_symlink("real", folder.path + "/link");
  BareCaller caller;
  bh::Registry registry(only({folder.path + "/link", folder.path + "/none"}), caller);
  registry.scan();
  CHECK(registry.folders() ==
        std::vector<std::string>{folder.path + "/real", folder.path + "/real/a"});
}

TEST_CASE("a pinned hash is the only one that will do") {
  Folder folder;
  install(folder, "all/a", "org.example.a", "one");
  BareCaller caller;
  bh::RegistryOptions options = only({folder.path + "/all"});
  options.sha256["org.example.a"] = std::string(64, '0');
  bh::Registry registry(std::move(options), caller);
  registry.scan();
  registry.load_all();
  CHECK(text(line(registry, 0), "stage") == "hash");
  CHECK(text(line(registry, 0), "message").find("the config wants 0000") != std::string::npos);
}

TEST_CASE("the config's plugins object is read key by key") {
  const auto read = [](const char* json) {
    return bh::read_registry_options(*bh::json::parse_object(json));
  };
  const auto options = read(R"({"path":["/a"],"environment":false,"disabled":["org.example.a"],
    "sha256":{"org.example.b":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}})");
  REQUIRE(options);
  CHECK(options->search.path == std::vector<std::string>{"/a"});
  CHECK_FALSE(options->search.environment);
  CHECK(options->search.user);
  CHECK(options->sha256.size() == 1);
  const struct {
    const char *json, *message;
  } cases[] = {
      {R"({"paths":[]})", "/plugins/paths is not a key that this host knows"},
      {R"({"path":"/a"})", "/plugins/path must be a list"},
      {R"({"path":["a"]})", "/plugins/path must hold absolute paths only"},
      {R"({"system":1})", "/plugins/system must be true or false"},
      {R"({"disabled":["a"]})", "/plugins/disabled must hold plugin ids only"},
      {R"({"sha256":{"org.example.a":"12"}})",
       "/plugins/sha256/org.example.a must be a plugin's id with 64 lower-case hexadecimal digits"},
  };
  for (const auto& each : cases) {
    const auto wrong = read(each.json);
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().code == BH_INVALID_ARGUMENT);
    CHECK(wrong.error().message == each.message);
  }
}
