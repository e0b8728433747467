// The opened toolset "sandbox" over scripted operations: what it asks the host for, and what it
// answers.
#pragma once

#include <bulkhead/sdk/json.hpp>
#include <bulkhead/sdk/testing/fake_operations.hpp>
#include <string>
#include <vector>

#include "support/catch.h"

extern "C" const bh_plugin* toolset_sandbox_entry(bh_call* call);

namespace sandbox_tools {

namespace json = bulkhead::sdk::json;
using bulkhead::sdk::failure;
using bulkhead::sdk::Status;
using bulkhead::sdk::testing::FakeCall;
using bulkhead::sdk::testing::FakeHost;
using bulkhead::sdk::testing::FakeOperations;
using bulkhead::sdk::testing::FakeRun;

inline constexpr char kStarted[] =
    R"({"started":{"sandbox":"s1","exec":"e1","backend":"bwrap","enforcement":{"rules":[
        {"rule":"limits.wall_ms","status":"enforced","value":600000},
        {"rule":"limits.memory_bytes","status":"enforced","value":2147483648},
        {"rule":"limits.pids","status":"unsupported"}]}}})";
inline constexpr char kFine[] = R"({"reason":"code","code":0,"signal":null})";
inline constexpr char kS1[] = R"({"sandbox":"s1","backend":"bwrap","state":"running","reason":null,
    "message":null,"created_ms":1700000000000,"changed_ms":1700000000500,
    "expires_ms":1700000600000,"image":"host","metadata":{"team":"a"},"default":false})";

inline std::string exited(std::string_view exit, std::string_view out = "",
                          std::string_view err = "", std::string_view more = "") {
  using bulkhead::sdk::json_quote;
  return R"({"sandbox":"s1","exec":"e1","exit":)" + std::string(exit) +
         R"(,"wall_ms":1500,"stdout":{"text":)" + json_quote(out) + R"(,"bytes":)" +
         std::to_string(out.size()) + R"(,"missing":0},"stderr":{"text":)" + json_quote(err) +
         R"(,"bytes":)" + std::to_string(err.size()) + R"(,"missing":0})" + std::string(more) + "}";
}

struct SandboxTools {
  explicit SandboxTools(std::string_view config = "{}")
      : set(host.open<bh_toolset>(&toolset_sandbox_entry, BH_TOOLSET, "sandbox", config)) {
    gives("host.inspect", R"({"persona":"p","defaults":{"network":"off"}})");
    gives("sandbox.connect", "{}");
  }

  FakeHost host;
  FakeOperations operations;
  bulkhead::sdk::testing::Opened<bh_toolset> set;
  bulkhead::sdk::testing::Recorded recorded;
  json::object result;
  bh_status code = BH_OK;

  void gives(const char* operation, std::string json, std::vector<std::string> items = {}) {
    operations.on(operation, [json, items](FakeRun& run) -> Status {
      for (const std::string& item : items) {
        if (auto st = run.item(item); !st) return st;
      }
      return run.result(json);
    });
  }
  void refuses(const char* operation, bh_status with, const char* message, const char* reason) {
    operations.on(operation, [=](FakeRun&) -> Status { return failure(with, message, reason); });
  }
  void exec_gives(std::string json) { gives("sandbox.exec", std::move(json), {kStarted}); }
  // A command that writes; its output is streamed.
  void exec_writes(std::string out, std::string err, std::string exit = kFine) {
    operations.on("sandbox.exec", [=](FakeRun& run) -> Status {
      if (auto st = run.item(kStarted); !st) return st;
      if (auto st = run.emit(BH_STREAM_STDOUT, out); !st) return st;
      if (auto st = run.emit(BH_STREAM_STDERR, err); !st) return st;
      return run.result(R"({"sandbox":"s1","exec":"e1","wall_ms":7,"exit":)" + exit + "}");
    });
  }

  void call(std::string_view tool, std::string_view args) {
    FakeCall one(host.raw());
    operations.serve(one);
    call(one, tool, args);
  }
  void call(FakeCall& one, std::string_view tool, std::string_view args) {
    code = set->call(set.self(), one.raw(), tool.data(), tool.size(), args.data(), args.size(),
                     nullptr, 0);
    recorded = one.recorded();
    auto parsed = json::parse_object(recorded.result);
    result = parsed.ok() ? *parsed : json::object();
  }
  const json::array& content() const { return *json::list(result, "content"); }
  std::string text(size_t i = 0) const {
    return std::string(json::text(content().at(i).get_object(), "text"));
  }
  bool is_error() const { return json::boolean(result, "is_error"); }
  const json::object& structured() const { return *json::child(result, "structured"); }
  // What the first text block says, read back: it is the structured content.
  bool text_says_the_same() const {
    auto parsed = json::parse(text());
    return parsed.ok() && *parsed == json::value(structured());
  }
  std::string detail(std::string_view key) const {
    auto details = json::parse_object(recorded.details);
    return details ? std::string(json::text(*details, key)) : std::string();
  }

  // The arguments of the last run of that operation; a test fails where there was none.
  json::object asked(std::string_view operation) const {
    const auto& seen = operations.seen();
    for (auto at = seen.rbegin(); at != seen.rend(); ++at) {
      if (at->operation == operation) return *json::parse_object(at->args);
    }
    FAIL("nobody ran " << std::string(operation));
    return {};
  }
  std::string sent(std::string_view operation) const {
    const auto& seen = operations.seen();
    for (auto at = seen.rbegin(); at != seen.rend(); ++at) {
      if (at->operation == operation) return at->input;
    }
    return "nobody ran it";
  }
  size_t runs(std::string_view operation) const {
    size_t n = 0;
    for (const auto& one : operations.seen()) n += one.operation == operation;
    return n;
  }
  json::array listed() {
    FakeCall one(host.raw());
    REQUIRE(set->list(set.self(), one.raw()) == BH_OK);
    json::array out;
    for (const std::string& item : one.recorded().items) {
      auto tool = json::parse_object(item);
      REQUIRE(tool.ok());
      out.push_back(*std::move(tool));
    }
    return out;
  }
};

inline constexpr char kAliases[] = R"({"aliases":true})";
inline constexpr char kExtras[] = R"({"extras":true})";

}  // namespace sandbox_tools
