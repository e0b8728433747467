// plugins/toolset_sandbox over scripted operations: what it asks the host for, and what it tells
// the model.
#include "support/catch.h"

#include <bulkhead/sdk/json.hpp>
#include <bulkhead/sdk/testing/fake_operations.hpp>

#include "output.h"

namespace json = bulkhead::sdk::json;
using bulkhead::sdk::failure;
using bulkhead::sdk::Status;
using bulkhead::sdk::testing::FakeCall;
using bulkhead::sdk::testing::FakeHost;
using bulkhead::sdk::testing::FakeOperations;
using bulkhead::sdk::testing::FakeRun;

extern "C" const bh_plugin* toolset_sandbox_entry(bh_call* call);

namespace {

constexpr char kStarted[] =
    R"({"started":{"sandbox":"s1","exec":"e1","backend":"bwrap","enforcement":{"rules":[
        {"rule":"limits.wall_ms","status":"enforced","value":600000},
        {"rule":"limits.memory_bytes","status":"enforced","value":2147483648}]}}})";

std::string exited(std::string_view exit, std::string_view out = "", std::string_view err = "",
                   std::string_view more = "") {
  using bulkhead::sdk::json_quote;
  return R"({"sandbox":"s1","exec":"e1","exit":)" + std::string(exit) +
         R"(,"wall_ms":1500,"stdout":{"text":)" + json_quote(out) + R"(,"bytes":)" +
         std::to_string(out.size()) + R"(,"missing":0},"stderr":{"text":)" + json_quote(err) +
         R"(,"bytes":)" + std::to_string(err.size()) + R"(,"missing":0})" + std::string(more) + "}";
}

constexpr char kFine[] = R"({"reason":"code","code":0,"signal":null})";

// The opened toolset with one scripted result of sandbox.exec.
struct Tools {
  FakeHost host;
  FakeOperations operations;
  bulkhead::sdk::testing::Opened<bh_toolset> set =
      host.open<bh_toolset>(&toolset_sandbox_entry, BH_TOOLSET, "sandbox");
  bulkhead::sdk::testing::Recorded recorded;
  json::object result;
  bh_status code = BH_OK;

  void exec_gives(std::string json) {
    operations.on("sandbox.exec", [json](FakeRun& run) -> Status {
      if (auto st = run.item(kStarted); !st) return st;
      return run.result(json);
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
  std::string text() const {
    return std::string(json::text(json::list(result, "content")->at(0).get_object(), "text"));
  }
  bool is_error() const { return json::boolean(result, "is_error"); }
  const json::object& structured() const { return *json::child(result, "structured"); }
  json::object asked(size_t i = 0) const {
    return *json::parse_object(operations.seen().at(i).args);
  }
};

}  // namespace

TEST_CASE("the tools are listed with schemas that parse and the operations they need") {
  Tools t;
  FakeCall call(t.host.raw());
  REQUIRE(t.set->list(t.set.self(), call.raw()) == BH_OK);
  std::vector<std::string> names;
  for (const std::string& item : call.recorded().items) {
    auto tool = json::parse_object(item);
    REQUIRE(tool.ok());
    names.emplace_back(json::text(*tool, "name"));
    CHECK(json::child(*tool, "input_schema") != nullptr);
    CHECK(json::child(*tool, "output_schema") != nullptr);
    REQUIRE(json::list(*tool, "needs") != nullptr);
    CHECK_FALSE(json::list(*tool, "needs")->empty());
  }
  CHECK(names ==
        std::vector<std::string>{"sandbox_execute", "sandbox_run", "sandbox_info", "sandbox_kill"});
}

TEST_CASE("python and javascript come on stdin, bash as one argument") {
  Tools t;
  t.exec_gives(exited(kFine));
  t.call("sandbox_execute", R"x({"code":"print(1)"})x");
  REQUIRE(t.code == BH_OK);
  CHECK(t.asked()["argv"] == json::value({"python3", "-u", "-"}));
  CHECK(t.operations.seen()[0].input == "print(1)");
  CHECK((t.operations.seen()[0].flags & BH_RUN_INPUT) == 0);
  CHECK(json::boolean(t.asked(), "collect"));
  CHECK_FALSE(t.asked().contains("timeout_ms"));

  t.call("sandbox_execute", R"({"code":"1","language":"js"})");
  CHECK(t.asked(1)["argv"] == json::value({"node", "-"}));

  t.call("sandbox_execute",
         R"({"code":"echo $HOME; cat","language":"bash","timeout_seconds":1.5})");
  CHECK(t.asked(2)["argv"] == json::value({"bash", "-c", "echo $HOME; cat"}));
  CHECK(t.operations.seen()[2].input.empty());
  CHECK(json::integer(t.asked(2), "timeout_ms") == 1500);

  const std::string large(200 * 1024, '#');
  t.call("sandbox_execute", R"x({"language":"bash","session_id":"s9","code":")x" + large + "\"}");
  CHECK(t.asked(3)["argv"] == json::value({"bash", "-s"}));
  CHECK(t.operations.seen()[3].input == large);
  CHECK(json::text(t.asked(3), "sandbox") == "s9");
}

TEST_CASE("the answer is stdout, then [stderr], then [exit code: N]") {
  Tools t;
  t.exec_gives(exited(R"({"reason":"code","code":3,"signal":null})", "out\n", "bad\n"));
  t.call("sandbox_execute", R"({"code":"x"})");
  CHECK(t.text() == "out\n[stderr] bad\n[exit code: 3]");
  CHECK_FALSE(t.is_error());
  CHECK(json::integer(t.structured(), "exit_code") == 3);
  CHECK(json::text(t.structured(), "stdout") == "out\n");
  CHECK(json::text(t.structured(), "stderr") == "bad\n");
  CHECK(json::text(t.structured(), "sandbox_id") == "s1");

  t.exec_gives(exited(kFine, "no newline", "warn"));
  t.call("sandbox_execute", R"({"code":"x"})");
  CHECK(t.text() == "no newline\n[stderr] warn");
  t.exec_gives(exited(kFine));
  t.call("sandbox_execute", R"({"code":"x"})");
  CHECK(t.text() == "(no output)");
}

TEST_CASE("limits and signals are said in a sentence, and are errors") {
  Tools t;
  const auto text_of = [&](const char* exit, const char* args) {
    t.exec_gives(exited(exit, "some\n"));
    t.call("sandbox_execute", args);
    CHECK(t.is_error());
    CHECK(t.structured().at("exit_code").is_null());
    return t.text();
  };
  CHECK(text_of(R"({"reason":"time","code":null,"signal":9})",
                R"({"code":"x","timeout_seconds":2})") == "some\nstopped: time limit of 2 s");
  CHECK(text_of(R"({"reason":"time","code":null,"signal":9})",
                R"({"code":"x","timeout_seconds":0.25})") == "some\nstopped: time limit of 0.25 s");
  CHECK(text_of(R"({"reason":"time","code":null,"signal":9})", R"({"code":"x"})") ==
        "some\nstopped: time limit of 600 s");
  CHECK(text_of(R"({"reason":"memory","code":null,"signal":9})", R"({"code":"x"})") ==
        "some\nstopped: memory limit of 2048 MiB");
  CHECK(text_of(R"({"reason":"signal","code":null,"signal":11})", R"({"code":"x"})") ==
        "some\nstopped: killed by signal 11");
  CHECK(text_of(R"({"reason":"something new","code":null,"signal":null})", R"({"code":"x"})") ==
        "some\nhow it ended is not known");
}

TEST_CASE("a denial names what was refused") {
  Tools t;
  t.exec_gives(exited(R"({"reason":"code","code":1,"signal":null})", "", "",
                      R"(,"denials":[{"rule":"files:/etc","resource":"/etc/passwd"}])"));
  t.call("sandbox_execute", R"({"code":"x"})");
  CHECK(t.text() == "[exit code: 1]\ndenied: /etc/passwd by files:/etc");
  CHECK(json::list(t.structured(), "denials")->size() == 1);
}

TEST_CASE("the enforcement report comes once for each sandbox") {
  Tools t;
  t.exec_gives(exited(kFine));
  t.call("sandbox_execute", R"({"code":"x"})");
  const json::object* meta = json::child(t.result, "meta");
  REQUIRE(meta != nullptr);
  const json::object* report = json::child(*meta, "bulkhead/enforcement");
  REQUIRE(report != nullptr);
  CHECK(json::text(*report, "backend") == "bwrap");
  t.call("sandbox_execute", R"({"code":"x"})");
  CHECK(json::child(t.result, "meta") == nullptr);
}

TEST_CASE("libraries and compiled languages are refused with the remedy") {
  Tools t;
  t.call("sandbox_execute", R"({"code":"x","libraries":["numpy"]})");
  CHECK(t.code == BH_INVALID_ARGUMENT);
  CHECK(t.recorded.details.find("/libraries") != std::string::npos);
  CHECK(t.recorded.details.find("remedy") != std::string::npos);
  t.call("sandbox_execute", R"({"code":"x","language":"rust"})");
  CHECK(t.code == BH_INVALID_ARGUMENT);
  CHECK(t.recorded.message.find("rust is compiled") != std::string::npos);
  CHECK(t.operations.seen().empty());
  t.exec_gives(exited(kFine));
  t.call("sandbox_execute", R"({"code":"x","libraries":[]})");
  CHECK(t.code == BH_OK);
}

TEST_CASE("a command that did not run is the host's own fault") {
  Tools t;
  t.operations.on("sandbox.exec", [](FakeRun&) -> Status {
    return failure(BH_FAILED_PRECONDITION, "no backend works here", "no_backend");
  });
  t.call("sandbox_execute", R"({"code":"x"})");
  CHECK(t.code == BH_FAILED_PRECONDITION);
  CHECK(t.recorded.message == "no backend works here");
  CHECK(t.recorded.results == 0);
}

TEST_CASE("sandbox_run passes program, folder, environment and input") {
  Tools t;
  t.exec_gives(exited(kFine, "x"));
  t.call("sandbox_run",
         R"({"argv":["cat","-n"],"cwd":"/w","env":{"A":"b"},"input":"text","sandbox_id":"s2"})");
  REQUIRE(t.code == BH_OK);
  CHECK(t.asked()["argv"] == json::value({"cat", "-n"}));
  CHECK(json::text(t.asked(), "cwd") == "/w");
  CHECK(json::text(*json::child(t.asked(), "env"), "A") == "b");
  CHECK(json::text(t.asked(), "sandbox") == "s2");
  CHECK(t.operations.seen()[0].input == "text");

  t.call("sandbox_run", R"({"argv":"[\"ls\",\"-l\"]","cwd":null})");
  CHECK(t.asked(1)["argv"] == json::value({"ls", "-l"}));
  CHECK_FALSE(t.asked(1).contains("cwd"));
  CHECK((t.operations.seen()[1].flags & BH_RUN_INPUT) != 0);
  t.call("sandbox_run", R"({"argv":"ls -l"})");
  CHECK(t.code == BH_INVALID_ARGUMENT);
  t.call("sandbox_run", R"({"argv":"[1]"})");
  CHECK(t.code == BH_INVALID_ARGUMENT);
}

TEST_CASE("a program that is not there is named") {
  Tools t;
  t.exec_gives(exited(R"({"reason":"code","code":127,"signal":null})"));
  t.call("sandbox_run", R"({"argv":["nonesuch"]})");
  CHECK(t.text() == "[exit code: 127]\nnonesuch was not found in the sandbox");
}

TEST_CASE("stream also sends the output as it comes, and keeps head and tail of it") {
  Tools t;
  t.operations.on("sandbox.exec", [](FakeRun& run) -> Status {
    if (auto st = run.item(kStarted); !st) return st;
    if (auto st = run.emit(2, "warn"); !st) return st;
    for (int i = 0; i < 64; ++i) {
      if (auto st = run.emit(1, std::string(16 * 1024, static_cast<char>('A' + i))); !st) return st;
    }
    return run.result(R"({"sandbox":"s1","exit":{"reason":"code","code":0,"signal":null}})");
  });
  FakeCall call(t.host.raw());
  t.operations.serve(call);
  t.call(call, "sandbox_run", R"({"argv":["x"],"stream":true})");
  REQUIRE(t.code == BH_OK);
  CHECK_FALSE(t.asked().contains("collect"));
  CHECK(call.out().size() == 64 * 16 * 1024);
  CHECK(call.err() == "warn");
  CHECK(json::integer(t.structured(), "stdout_bytes") == 64 * 16 * 1024);
  CHECK(json::integer(t.structured(), "stdout_missing") == 48 * 16 * 1024);
  const std::string_view text = json::text(t.structured(), "stdout");
  CHECK(text.substr(0, 3) == "AAA");
  CHECK(text.find("786432 bytes left out") != std::string_view::npos);
}

TEST_CASE("a caller that is gone stops the command with its own code") {
  Tools t;
  t.operations.on("sandbox.exec", [](FakeRun& run) -> Status {
    for (;;) {
      if (auto st = run.emit(1, "x"); !st) return st;
    }
  });
  FakeCall call(t.host.raw());
  t.operations.serve(call);
  call.stop_at_emit(3);
  t.call(call, "sandbox_run", R"({"argv":["yes"],"stream":true})");
  CHECK(t.code == BH_CANCELLED);
  CHECK_FALSE(t.recorded.failed);
}

TEST_CASE("info lists the sandboxes, kill ends one") {
  Tools t;
  t.operations.on("host.inspect", [](FakeRun& run) {
    return run.result(
        R"({"version":"0.1.0","persona":"p","backends":["bwrap"],"defaults":{"network":"off"},"data_root":"/secret"})");
  });
  t.operations.on("sandbox.list", [](FakeRun& run) -> Status {
    return run.item(R"({"sandbox":"s1","backend":"bwrap","state":"running","default":true})");
  });
  t.operations.on("sandbox.kill", [](FakeRun& run) {
    return run.result(R"({"sandbox":"s1","state":"terminated"})");
  });
  t.call("sandbox_info", "{}");
  REQUIRE(t.code == BH_OK);
  CHECK(t.text().find("s1 (bwrap, running") != std::string::npos);
  CHECK(json::text(t.structured(), "persona") == "p");
  CHECK_FALSE(t.structured().contains("data_root"));
  t.call("sandbox_kill", R"({"sandbox_id":"s1"})");
  REQUIRE(t.code == BH_OK);
  CHECK(json::text(t.asked(2), "sandbox") == "s1");
  CHECK(json::text(t.structured(), "state") == "terminated");
}

TEST_CASE("output keeps head and tail at every length and chunking") {
  using toolset_sandbox::Output;
  for (const size_t total :
       {size_t{0}, size_t{1}, Output::kHead, Output::kHead + 1, Output::kHead + Output::kTail,
        Output::kHead + Output::kTail + 1, size_t{1000000}}) {
    std::string all;
    for (size_t i = 0; i < total; ++i) all += static_cast<char>('a' + i % 26);
    for (const size_t chunk : {size_t{777}, size_t{65536}, size_t{1} << 20}) {
      Output output;
      for (size_t at = 0; at < total; at += chunk)
        output.add(std::string_view(all).substr(at, chunk));
      CHECK(output.bytes() == total);
      if (total <= Output::kHead + Output::kTail) {
        CHECK(output.missing() == 0);
        CHECK(output.text() == all);
      } else {
        CHECK(output.missing() == total - Output::kHead - Output::kTail);
        CHECK(output.text().substr(0, Output::kHead) == all.substr(0, Output::kHead));
        CHECK(output.text().substr(output.text().size() - Output::kTail) ==
              all.substr(total - Output::kTail));
      }
    }
  }
}

TEST_CASE("base64 of every remainder") {
  CHECK(toolset_sandbox::from_base64("") == "");
  CHECK(toolset_sandbox::from_base64("/w==") == "\xFF");
  CHECK(toolset_sandbox::from_base64("AAE=") == std::string("\0\1", 2));
  CHECK(toolset_sandbox::from_base64("YWJj") == "abc");
}
