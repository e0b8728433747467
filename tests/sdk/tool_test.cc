// Tools as a table, their definitions and results, and operations under them.
#include "support/catch.h"

#include <bulkhead/sdk.hpp>
#include <bulkhead/sdk/json.hpp>
#include <bulkhead/sdk/testing/fake_operations.hpp>

using namespace bulkhead::sdk;
using bulkhead::sdk::testing::FakeCall;
using bulkhead::sdk::testing::FakeHost;
using bulkhead::sdk::testing::FakeOperations;
using bulkhead::sdk::testing::FakeRun;

namespace {

class Few : public Tools {
 public:
  Few() {
    add(Tool("echo")
            .title("Echo")
            .description("Says \"it\" again")
            .input_schema(R"({"type":"object"})")
            .output_schema(R"({"type":"object","properties":{}})")
            .read_only(true)
            .needs("sandbox.exec/1")
            .needs("sandbox.kill/1"),
        [](Call&, std::string_view args, Blobs blobs) -> Result<ToolResult> {
          std::string text(args);
          if (const bh_blob* b = blobs.find("more")) text += bytes(*b);
          return ToolResult(text).structured(R"({"n":1})").meta(R"({"m":2})").error();
        });
    add(Tool("fails").input_schema("{}"), [](Call&, std::string_view, Blobs) -> Result<ToolResult> {
      return failure(BH_PERMISSION_DENIED, "not you", "policy");
    });
  }
};

Plugin& few() {
  static Plugin plugin = std::move(Plugin("org.example.few", "F", "1.0.0").toolset<Few>("few"));
  return plugin;
}

struct Set {
  FakeHost host;
  testing::Opened<bh_toolset> tools =
      host.open<bh_toolset>(&detail::Entry<&few>::enter, BH_TOOLSET, "few");
  bh_status call(FakeCall& c, std::string_view tool, std::string_view args,
                 const bh_blob* const* blobs = nullptr, size_t n = 0) {
    return tools->call(tools.self(), c.raw(), tool.data(), tool.size(), args.data(), args.size(),
                       blobs, n);
  }
};

}  // namespace

TEST_CASE("list gives one item per tool, in order, as tool.json wants it") {
  Set set;
  FakeCall call(set.host.raw());
  REQUIRE(set.tools->list(set.tools.self(), call.raw()) == BH_OK);
  const auto items = call.recorded().items;
  REQUIRE(items.size() == 2);
  auto echo = json::parse_object(items[0]);
  REQUIRE(echo.ok());
  CHECK(json::text(*echo, "name") == "echo");
  CHECK(json::text(*echo, "description") == "Says \"it\" again");
  REQUIRE(json::child(*echo, "input_schema") != nullptr);
  REQUIRE(json::child(*echo, "annotations") != nullptr);
  CHECK(json::boolean(*json::child(*echo, "annotations"), "read_only"));
  REQUIRE(json::list(*echo, "needs") != nullptr);
  CHECK(json::list(*echo, "needs")->size() == 2);
  auto fails = json::parse_object(items[1]);
  REQUIRE(fails.ok());
  CHECK(fails->if_contains("needs") == nullptr);
}

TEST_CASE("a list that is not wanted any more ends") {
  Set set;
  FakeCall call(set.host.raw());
  call.stop(BH_DEADLINE_EXCEEDED);
  CHECK(set.tools->list(set.tools.self(), call.raw()) == BH_DEADLINE_EXCEEDED);
  CHECK(call.recorded().items.empty());
}

TEST_CASE("a call reaches its handler with arguments and bytes") {
  Set set;
  FakeCall call(set.host.raw());
  bh_blob blob{};
  blob.struct_size = sizeof blob;
  blob.name = str("more");
  blob.data = "+";
  blob.size = 1;
  const bh_blob* blobs[] = {&blob};
  REQUIRE(set.call(call, "echo", R"({"a":"é"})", blobs, 1) == BH_OK);
  auto result = json::parse_object(call.recorded().result);
  REQUIRE(result.ok());
  const auto& first = json::list(*result, "content")->at(0).get_object();
  CHECK(json::text(first, "text") == R"({"a":"é"}+)");
  CHECK(json::integer(*json::child(*result, "structured"), "n") == 1);
  CHECK(json::integer(*json::child(*result, "meta"), "m") == 2);
  CHECK(json::boolean(*result, "is_error"));
}

TEST_CASE("a handler's failure and an unknown tool are faults") {
  Set set;
  FakeCall call(set.host.raw());
  CHECK(set.call(call, "fails", "{}") == BH_PERMISSION_DENIED);
  CHECK(call.recorded().message == "not you");
  CHECK(call.recorded().results == 0);
  CHECK(set.call(call, "absent", "{}") == BH_NOT_FOUND);
  CHECK(call.recorded().details.find("unknown_tool") != std::string::npos);
}

TEST_CASE("an operation: arguments, input, output, result") {
  FakeHost host;
  FakeOperations operations;
  operations.on("sandbox.exec", [](FakeRun& run) -> Status {
    if (auto st = run.item(R"({"started":{}})"); !st) return st;
    if (auto st = run.emit(1, "got " + run.input); !st) return st;
    return run.result(R"({"exit":0})");
  });
  FakeCall raw(host.raw());
  operations.serve(raw);
  Call call(raw.raw());
  std::string out;
  int items = 0;
  auto result = Operation("sandbox.exec")
                    .args(R"({"argv":["cat"]})")
                    .input("bytes")
                    .timeout(std::chrono::seconds(3))
                    .on_item([&](std::string_view) { return ++items, Status(); })
                    .on_output([&](int32_t, std::string_view d) { return out += d, Status(); })
                    .run(call);
  REQUIRE(result.ok());
  CHECK(*result == R"({"exit":0})");
  CHECK(out == "got bytes");
  CHECK(items == 1);
  CHECK(raw.out().empty());
  REQUIRE(operations.seen().size() == 1);
  CHECK(operations.seen()[0].args == R"({"argv":["cat"]})");
  CHECK(operations.seen()[0].timeout_ns == 3'000'000'000);
  Operation::cancel(call, 9);
  CHECK(operations.cancelled() == std::vector<uint64_t>{9});
}

TEST_CASE("pass_output also shows the output to the tool's caller") {
  FakeHost host;
  FakeOperations operations;
  operations.on("x", [](FakeRun& run) { return run.emit(2, "warn"); });
  FakeCall raw(host.raw());
  operations.serve(raw);
  Call call(raw.raw());
  CHECK(Operation("x").pass_output().pass_input().run(call).ok());
  CHECK(raw.err() == "warn");
  CHECK(operations.seen()[0].flags == (BH_RUN_OUTPUT | BH_RUN_INPUT));
}

TEST_CASE("an operation's failure arrives whole, and nothing is recorded in the outer call") {
  FakeHost host;
  FakeOperations operations;
  operations.on("x", [](FakeRun&) -> Status {
    return failure(BH_PERMISSION_DENIED, "the policy said no", "policy");
  });
  FakeCall raw(host.raw());
  operations.serve(raw);
  Call call(raw.raw());
  auto result = Operation("x").run(call);
  REQUIRE_FALSE(result.ok());
  CHECK(result.failure().code() == BH_PERMISSION_DENIED);
  CHECK(result.failure().message() == "the policy said no");
  CHECK(result.failure().details() == R"({"reason":"policy"})");
  CHECK_FALSE(raw.recorded().failed);
  CHECK(Operation("unknown").run(call).failure().code() == BH_NOT_FOUND);
}

TEST_CASE("an on_ function that fails or throws ends the operation with its own words") {
  FakeHost host;
  FakeOperations operations;
  int emitted = 0;
  operations.on("x", [&](FakeRun& run) -> Status {
    for (; emitted < 5; ++emitted) {
      if (auto st = run.emit(1, "a"); !st) return st;
    }
    return {};
  });
  FakeCall raw(host.raw());
  operations.serve(raw);
  Call call(raw.raw());
  auto full = Operation("x")
                  .on_output([](int32_t, std::string_view) -> Status {
                    return failure(BH_RESOURCE_EXHAUSTED, "enough", "full");
                  })
                  .run(call);
  REQUIRE_FALSE(full.ok());
  CHECK(full.failure().message() == "enough");
  CHECK(emitted == 0);
  auto thrown =
      Operation("x")
          .on_output([](int32_t, std::string_view) -> Status { throw std::runtime_error("oh"); })
          .run(call);
  REQUIRE_FALSE(thrown.ok());
  CHECK(thrown.failure().code() == BH_INTERNAL);
  CHECK(thrown.failure().message() == "oh");
}

TEST_CASE("a call that may not run operations is told so") {
  FakeHost host;
  FakeCall raw(host.raw());
  Call call(raw.raw());
  auto result = Operation("x").run(call);
  REQUIRE_FALSE(result.ok());
  CHECK(result.failure().code() == BH_FAILED_PRECONDITION);
}
