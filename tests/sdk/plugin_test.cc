// The plugin's table: entry, kinds, providers, opening.
#include "support/catch.h"

#include <bulkhead/sdk.hpp>
#include <bulkhead/sdk/testing/fake_host.hpp>

using namespace bulkhead::sdk;
using bulkhead::sdk::testing::FakeCall;
using bulkhead::sdk::testing::FakeHost;

namespace {

class Empty : public Tools {};

// Made by open(), which may refuse; knows its probe.
class Choosy : public Tools {
 public:
  static Result<std::unique_ptr<Choosy>> open(Call& call, const Opening& how) {
    call.log(BH_LOG_INFO, "opening", R"({"n":1})");
    if (how.config() != R"({"key":1})") {
      return failure(BH_INVALID_ARGUMENT, "key is missing", "schema", "/key");
    }
    return std::make_unique<Choosy>();
  }
  static Status probe(Call& call, const Opening&) {
    if (auto st = call.result(R"({"walls":true})"); !st) return st;
    return failure(BH_UNAVAILABLE, "not now", "busy");
  }
  static const void* extension(std::string_view id) {
    static const int table = 1;
    return id == "org.example.more/1" ? &table : nullptr;
  }
};

class Named : public Tools {
 public:
  explicit Named(const Opening& how) {
    add(Tool(std::string(how.instance())),
        [](Call&, std::string_view, Blobs) { return ToolResult("x"); });
  }
};

class Broken : public Tools {
 public:
  Broken() { throw std::runtime_error("cannot be made"); }
};

int shutdowns = 0;

Plugin& whole() {
  static Plugin plugin = std::move(
      Plugin("org.example.whole", "Whole", "2.1.0")
          .vendor("Example")
          .license("MIT")
          .on_shutdown([](Host) { ++shutdowns; })
          .toolset<Empty>("empty")
          .toolset<Choosy>("choosy", Provides().title("Choosy").capabilities(R"({"a":1})"))
          .toolset<Named>("named")
          .toolset<Broken>("broken"));
  return plugin;
}

Plugin& throwing() { throw std::runtime_error("no plugin today"); }

const bh_plugin* enter() {
  static FakeHost host;
  FakeCall call(host.raw());
  return detail::Entry<&whole>::enter(call.raw());
}

}  // namespace

BULKHEAD_PLUGIN(bulkhead::sdk::Plugin("org.example.macro", "Macro", "1.0.0").toolset<Empty>("e"));

TEST_CASE("the macro makes the entry") {
  FakeHost host;
  FakeCall call(host.raw());
  const bh_plugin* p = bh_plugin_entry_v1(call.raw());
  REQUIRE(p != nullptr);
  CHECK(std::string(p->id) == "org.example.macro");
  CHECK(p == bh_plugin_entry_v1(call.raw()));
}

TEST_CASE("the table carries the texts and is the same for every entry") {
  const bh_plugin* p = enter();
  REQUIRE(p != nullptr);
  CHECK(p == enter());
  CHECK(p->struct_size == sizeof(bh_plugin));
  CHECK(p->abi_minor == BH_ABI_MINOR);
  CHECK(std::string(p->name) == "Whole");
  CHECK(std::string(p->version) == "2.1.0");
  CHECK(std::string(p->vendor) == "Example");
  CHECK(std::string(p->license) == "MIT");
  FakeHost host;
  const int before = shutdowns;
  p->shutdown(host.raw());
  CHECK(shutdowns == before + 1);
}

TEST_CASE("kinds are found by name, the same list every time") {
  const bh_plugin* p = enter();
  const auto* list = static_cast<const bh_provider_list*>(p->get_interface(BH_TOOLSET));
  REQUIRE(list != nullptr);
  CHECK(list == p->get_interface(BH_TOOLSET));
  CHECK(list->count == 4);
  CHECK(p->get_interface(BH_ISOLATION) == nullptr);
  CHECK(p->get_interface("org.example.unknown/1") == nullptr);
  CHECK(p->get_interface(nullptr) == nullptr);
}

TEST_CASE("a provider's row has its texts, and a probe only where the class has one") {
  const bh_provider* empty = FakeHost::find(enter(), BH_TOOLSET, "empty");
  const bh_provider* choosy = FakeHost::find(enter(), BH_TOOLSET, "choosy");
  REQUIRE(empty != nullptr);
  REQUIRE(choosy != nullptr);
  CHECK(std::string(empty->title) == "empty");
  CHECK(std::string(choosy->title) == "Choosy");
  CHECK(std::string(choosy->capabilities) == R"({"a":1})");
  CHECK(empty->probe == nullptr);
  REQUIRE(choosy->probe != nullptr);
  FakeHost host;
  FakeCall call(host.raw());
  bh_opening how{};
  how.struct_size = sizeof how;
  CHECK(choosy->probe(call.raw(), &how) == BH_UNAVAILABLE);
  CHECK(call.recorded().message == "not now");
  CHECK(call.recorded().result == R"({"walls":true})");
  const auto* table = static_cast<const bh_toolset*>(choosy->table);
  CHECK(table->get_extension("org.example.more/1") != nullptr);
  CHECK(table->get_extension("org.example.less/1") == nullptr);
  CHECK(static_cast<const bh_toolset*>(empty->table)->get_extension("x") == nullptr);
}

TEST_CASE("open() may refuse, log and throw") {
  FakeHost host;
  auto entry = &detail::Entry<&whole>::enter;
  CHECK_NOTHROW(host.open<bh_toolset>(entry, BH_TOOLSET, "choosy", R"({"key":1})"));
  REQUIRE(host.logs().size() == 1);
  CHECK(host.logs()[0].message == "opening");
  CHECK(host.logs()[0].fields == R"({"n":1})");
  CHECK_THROWS_WITH(host.open<bh_toolset>(entry, BH_TOOLSET, "choosy"), "open: key is missing");
  CHECK_THROWS_WITH(host.open<bh_toolset>(entry, BH_TOOLSET, "broken"), "open: cannot be made");
  auto named = host.open<bh_toolset>(entry, BH_TOOLSET, "named");
  FakeCall call(host.raw());
  REQUIRE(named->list(named.self(), call.raw()) == BH_OK);
  CHECK(call.recorded().items.at(0).find(R"("name":"test")") != std::string::npos);
}

TEST_CASE("an entry that cannot build its table gives NULL and says why") {
  FakeHost host;
  FakeCall call(host.raw());
  CHECK(detail::Entry<&throwing>::enter(call.raw()) == nullptr);
  CHECK(call.recorded().message == "no plugin today");
}

TEST_CASE("logs below the host's level are not sent") {
  FakeHost host;
  host.lowest_level(BH_LOG_WARN);
  FakeCall raw(host.raw());
  Call call(raw.raw());
  call.log(BH_LOG_INFO, "quiet");
  call.log(BH_LOG_ERROR, "loud");
  call.host().notify(R"({"changed":"tools"})");
  REQUIRE(host.logs().size() == 1);
  CHECK(host.logs()[0].message == "loud");
  CHECK(host.notifications().size() == 1);
}
