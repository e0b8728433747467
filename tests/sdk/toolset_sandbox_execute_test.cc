// sandbox_execute: how code reaches its interpreter, and what the model is told of the end.
#include "sandbox_tools.h"

using namespace sandbox_tools;  // NOLINT(google-build-using-namespace)

namespace {

// argv without the shell around it that sets the packages' environment.
json::value program(const SandboxTools& t) {
  const json::object asked = t.asked("sandbox.exec");
  const json::array& argv = *json::list(asked, "argv");
  CHECK(argv.at(0) == json::value("/bin/sh"));
  return json::array(argv.begin() + 4, argv.end());
}

}  // namespace

TEST_CASE("python and javascript come on stdin, bash as one argument") {
  SandboxTools t(kAliases);
  t.exec_gives(exited(kFine));
  t.call("sandbox_execute", R"x({"code":"print(1)"})x");
  REQUIRE(t.code == BH_OK);
  CHECK(program(t) == json::value({"python3", "-u", "-"}));
  CHECK(t.sent("sandbox.exec") == "print(1)");
  CHECK(json::boolean(t.asked("sandbox.exec"), "collect"));
  CHECK_FALSE(t.asked("sandbox.exec").contains("timeout_ms"));

  t.call("sandbox_execute", R"({"code":"1","language":"js"})");
  CHECK(program(t) == json::value({"node", "-"}));

  t.call("sandbox_execute",
         R"({"code":"echo $HOME; cat","language":"bash","timeout_seconds":1.5})");
  CHECK(program(t) == json::value({"bash", "-c", "echo $HOME; cat"}));
  CHECK(t.sent("sandbox.exec").empty());
  CHECK(json::integer(t.asked("sandbox.exec"), "timeout_ms") == 1500);

  const std::string large(200 * 1024, '#');
  t.call("sandbox_execute", R"x({"language":"bash","session_id":"s9","code":")x" + large + "\"}");
  CHECK(program(t) == json::value({"bash", "-s"}));
  CHECK(t.sent("sandbox.exec") == large);
  CHECK(json::text(t.asked("sandbox.exec"), "sandbox") == "s9");
}

TEST_CASE("the answer is stdout, then [stderr], then [exit code: N]") {
  SandboxTools t(kAliases);
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
  SandboxTools t(kAliases);
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
  SandboxTools t(kAliases);
  t.exec_gives(exited(R"({"reason":"code","code":1,"signal":null})", "", "",
                      R"(,"denials":[{"rule":"files:/etc","resource":"/etc/passwd"}])"));
  t.call("sandbox_execute", R"({"code":"x"})");
  CHECK(t.text() == "[exit code: 1]\ndenied: /etc/passwd by files:/etc");
  CHECK(json::list(t.structured(), "denials")->size() == 1);
}

TEST_CASE("the enforcement report comes once for each sandbox") {
  SandboxTools t(kAliases);
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

TEST_CASE("compiled languages are refused with the remedy") {
  SandboxTools t(kAliases);
  t.call("sandbox_execute", R"({"code":"x","language":"rust"})");
  CHECK(t.code == BH_INVALID_ARGUMENT);
  CHECK(t.recorded.message.find("rust is compiled") != std::string::npos);
  CHECK(t.operations.seen().empty());
}

TEST_CASE("libraries are installed first, for the languages that have some") {
  SandboxTools t(kAliases);
  t.gives("host.inspect", R"({"persona":"p","defaults":{"network":"unrestricted"}})");
  t.exec_gives(exited(kFine));
  t.call("sandbox_execute", R"({"code":"x","libraries":["numpy"],"session_id":"s9"})");
  REQUIRE(t.code == BH_OK);
  CHECK(t.runs("sandbox.exec") == 2);
  for (const auto& one : t.operations.seen()) {
    if (one.operation != "sandbox.exec") continue;
    CHECK(json::text(*json::parse_object(one.args), "sandbox") == "s9");
  }
  t.call("sandbox_execute", R"({"code":"x","libraries":["y"],"language":"bash"})");
  CHECK(t.detail("field") == "/libraries");
  t.exec_gives(exited(R"({"reason":"code","code":1,"signal":null})", "", "no such package"));
  t.call("sandbox_execute", R"({"code":"x","libraries":["nonesuch"]})");
  CHECK(t.code == BH_FAILED_PRECONDITION);
  CHECK(t.recorded.message.find("no such package") != std::string::npos);
  t.exec_gives(exited(kFine));
  t.call("sandbox_execute", R"({"code":"x","libraries":[]})");
  CHECK(t.code == BH_OK);
}

TEST_CASE("a command that did not run is the host's own fault") {
  SandboxTools t(kAliases);
  t.operations.on("sandbox.exec", [](FakeRun&) -> Status {
    return failure(BH_FAILED_PRECONDITION, "no backend works here", "no_backend");
  });
  t.call("sandbox_execute", R"({"code":"x"})");
  CHECK(t.code == BH_FAILED_PRECONDITION);
  CHECK(t.recorded.message == "no backend works here");
  CHECK(t.recorded.results == 0);
}
