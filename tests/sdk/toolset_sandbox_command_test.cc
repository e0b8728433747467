// command_run and command_interrupt: OpenSandbox's Execution from what a command does.
#include "lines.h"
#include "sandbox_tools.h"

using namespace sandbox_tools;  // NOLINT(google-build-using-namespace)

namespace {

struct Commanding : SandboxTools {
  explicit Commanding(std::string_view config = "{}") : SandboxTools(config) {
    call("sandbox_healthcheck", "{}");
    gives("sandbox.health", R"({"healthy":true})");
    call("sandbox_healthcheck", R"({"sandbox_id":"s1","connect_if_missing":true})");
    REQUIRE(code == BH_OK);
  }
  void run(const std::string& more = "") {
    call("command_run", R"({"sandbox_id":"s1","command":"x")" + more + "}");
  }
  std::vector<std::string> lines(const char* stream) const {
    std::vector<std::string> out;
    for (const json::value& one : *json::list(*json::child(structured(), "logs"), stream)) {
      const json::object& message = one.get_object();
      out.emplace_back(json::text(message, "text"));
      CHECK(json::integer(message, "timestamp") > 1700000000000);
      CHECK(json::boolean(message, "is_error") == (std::string(stream) == "stderr"));
    }
    return out;
  }
  const json::object& error() const { return *json::child(structured(), "error"); }
};

std::vector<std::string> split(std::string_view text, size_t chunk) {
  toolset_sandbox::Lines lines(false);
  for (size_t at = 0; at < text.size(); at += chunk) lines.add(text.substr(at, chunk), 1);
  lines.end(2);
  std::vector<std::string> out;
  for (const json::value& one : lines.messages()) {
    out.emplace_back(json::text(one.get_object(), "text"));
  }
  return out;
}

}  // namespace

TEST_CASE("command: a success has complete and exit code 0, and both streams by line") {
  Commanding t;
  t.exec_writes("hi\nthere\n", "warn");
  t.run();
  REQUIRE(t.code == BH_OK);
  CHECK_FALSE(t.is_error());
  CHECK(t.lines("stdout") == std::vector<std::string>{"hi", "there"});
  CHECK(t.lines("stderr") == std::vector<std::string>{"warn"});
  CHECK(json::text(t.structured(), "id") == "e1");
  CHECK(json::integer(t.structured(), "exit_code", -9) == 0);
  CHECK(t.structured().at("error").is_null());
  CHECK(t.structured().at("execution_count").is_null());
  CHECK(json::integer(*json::child(t.structured(), "complete"), "execution_time_in_millis") == 7);
  CHECK(t.text_says_the_same());
  const json::object asked = t.asked("sandbox.exec");
  const json::array& argv = *json::list(asked, "argv");
  CHECK(argv.at(4) == json::value("x"));
  CHECK(json::text(asked, "sandbox") == "s1");
  CHECK_FALSE(asked.contains("collect"));
  CHECK_FALSE(asked.contains("cwd"));
  CHECK_FALSE(asked.contains("timeout_ms"));
}

TEST_CASE("command: one that fails is no error of the tool") {
  Commanding t;
  t.exec_writes("", "bad\n", R"({"reason":"code","code":127,"signal":null})");
  t.run(R"(,"working_directory":"/tmp")");
  CHECK_FALSE(t.is_error());
  CHECK(json::text(t.asked("sandbox.exec"), "cwd") == "/tmp");
  CHECK(json::integer(t.structured(), "exit_code") == 127);
  CHECK(t.structured().at("complete").is_null());
  CHECK(json::text(t.error(), "name") == "CommandExecError");
  CHECK(json::text(t.error(), "value") == "127");
  CHECK(t.error().at("traceback") == json::value({"exit status 127"}));
}

TEST_CASE("command: killed by a signal or a limit is -1, and the limit is named") {
  Commanding t;
  t.exec_writes("", "", R"({"reason":"signal","code":null,"signal":15})");
  t.run();
  CHECK(json::integer(t.structured(), "exit_code") == -1);
  CHECK(json::text(t.error(), "value") == "-1");
  CHECK(t.error().at("traceback") == json::value({"signal: terminated"}));
  t.exec_writes("", "", R"({"reason":"memory","code":null,"signal":9})");
  t.run();
  CHECK(t.error().at("traceback") ==
        json::value({"signal: killed", "stopped: memory limit of 2048 MiB"}));
}

TEST_CASE("command: in the background it is a job, and its id is the execution's") {
  Commanding t;
  t.gives("job.start", R"({"job":"j7","sandbox":"s1","state":"running","started_ms":1})");
  t.run(R"(,"background":true)");
  REQUIRE(t.code == BH_OK);
  CHECK(json::text(t.structured(), "id") == "j7");
  CHECK(t.structured().at("exit_code").is_null());
  CHECK(t.structured().at("error").is_null());
  CHECK(t.structured().at("complete").is_object());
  CHECK(t.runs("sandbox.exec") == 0);
  t.gives("sandbox.interrupt", R"({"exec":"j7","ended":true})");
  t.call("command_interrupt", R"({"sandbox_id":"s1","execution_id":"j7"})");
  CHECK(json::text(t.structured(), "status") == "interrupted");
  CHECK(json::text(t.asked("sandbox.interrupt"), "exec") == "j7");
}

TEST_CASE("command: blank and impossible ones are refused, long ones are read from a descriptor") {
  Commanding t;
  t.call("command_run", R"({"sandbox_id":"s1","command":" \n"})");
  CHECK(t.detail("field") == "/command");
  t.call("command_run", R"({"sandbox_id":"s1","command":"a\u0000b"})");
  CHECK(t.detail("field") == "/command");
  t.exec_writes("", "");
  const std::string script(200 * 1024, '#');
  t.call("command_run", R"({"sandbox_id":"s1","command":")" + script + "\"}");
  REQUIRE(t.code == BH_OK);
  CHECK(t.sent("sandbox.exec") == script);
  CHECK(json::list(t.asked("sandbox.exec"), "argv")->size() == 3);
  t.call("command_run", R"({"sandbox_id":"s1","background":true,"command":")" + script + "\"}");
  CHECK(t.code == BH_INVALID_ARGUMENT);
}

TEST_CASE("command: extras give it a time limit and an environment") {
  Commanding t(kExtras);
  t.exec_writes("", "");
  t.run(R"(,"timeout_seconds":0.5,"env":{"A":"1"})");
  CHECK(json::integer(t.asked("sandbox.exec"), "timeout_ms") == 500);
  CHECK(json::text(*json::child(t.asked("sandbox.exec"), "env"), "A") == "1");
  t.run();
  CHECK_FALSE(t.asked("sandbox.exec").contains("timeout_ms"));
}

TEST_CASE("lines end by \\n, \\r and \\r\\n; an empty one is a line feed; the last may be open") {
  using Texts = std::vector<std::string>;
  for (const size_t chunk : {size_t{1}, size_t{2}, size_t{1000}}) {
    CHECK(split("a\n\nb\n\n\nc\n", chunk) == Texts{"a", "\n", "b", "\n", "\n", "c"});
    CHECK(split("10%\r20%\r\nend", chunk) == Texts{"10%", "20%", "end"});
    CHECK(split("\r\n\r\n", chunk) == Texts{"\n", "\n"});
    CHECK(split("", chunk).empty());
    CHECK(split("å\xFF", chunk) == Texts{"å\xEF\xBF\xBD"});
  }
}

TEST_CASE("lines keep head and tail of too many, and a line without end is cut between characters") {
  toolset_sandbox::Lines many(true);
  for (int i = 0; i < 40000; ++i) many.add(std::to_string(i) + "\n", i);
  const json::array kept = many.messages();
  CHECK(kept.size() > 10000);
  CHECK(kept.size() < 40000);
  CHECK(json::text(kept.at(0).get_object(), "text") == "0");
  CHECK(json::text(kept.at(kept.size() - 1).get_object(), "text") == "39999");
  CHECK(many.missing() > 0);
  size_t marks = 0;
  for (const json::value& one : kept) {
    marks += json::text(one.get_object(), "text").find("bytes left out") != std::string_view::npos;
  }
  CHECK(marks == 1);
  std::string endless = "x";
  for (int i = 0; i < 200000; ++i) endless += "å";
  std::string together;
  for (const std::string& piece : split(endless + "\n", 7777)) together += piece;
  CHECK(together == endless);
}

TEST_CASE("an answer of the largest size still fits") {
  Commanding t;
  std::string noise;
  for (int i = 0; i < 3000000; ++i) noise += static_cast<char>(i % 251 == 0 ? '\n' : i % 32 + 1);
  t.exec_writes(noise, noise);
  t.run();
  REQUIRE(t.code == BH_OK);
  CHECK(t.recorded.result.size() < 8u << 20);
  CHECK(t.recorded.result.size() > 4u << 20);
}
