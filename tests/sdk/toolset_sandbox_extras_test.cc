// What OpenSandbox's tools lack: sandbox_run, listing, upload and download.
#include "output.h"
#include "sandbox_tools.h"

using namespace sandbox_tools;  // NOLINT(google-build-using-namespace)

TEST_CASE("sandbox_run passes program, folder, environment and input") {
  SandboxTools t(kExtras);
  t.exec_gives(exited(kFine, "x"));
  t.call("sandbox_run",
         R"({"argv":["cat","-n"],"cwd":"/w","env":{"A":"b"},"input":"text","sandbox_id":"s2"})");
  REQUIRE(t.code == BH_OK);
  CHECK(t.asked("sandbox.exec")["argv"] == json::value({"cat", "-n"}));
  CHECK(json::text(t.asked("sandbox.exec"), "cwd") == "/w");
  CHECK(json::text(*json::child(t.asked("sandbox.exec"), "env"), "A") == "b");
  CHECK(json::text(t.asked("sandbox.exec"), "sandbox") == "s2");
  CHECK(t.sent("sandbox.exec") == "text");

  t.call("sandbox_run", R"({"argv":["ls","-l"],"cwd":null})");
  CHECK(t.asked("sandbox.exec")["argv"] == json::value({"ls", "-l"}));
  CHECK_FALSE(t.asked("sandbox.exec").contains("cwd"));
  CHECK((t.operations.seen().back().flags & BH_RUN_INPUT) != 0);
  t.call("sandbox_run", R"({"argv":"ls -l"})");
  CHECK(t.code == BH_INVALID_ARGUMENT);
  CHECK(t.detail("field") == "/argv");
}

TEST_CASE("a program that is not there is named") {
  SandboxTools t(kExtras);
  t.exec_gives(exited(R"({"reason":"code","code":127,"signal":null})"));
  t.call("sandbox_run", R"({"argv":["nonesuch"]})");
  CHECK(t.text() == "[exit code: 127]\nnonesuch was not found in the sandbox");
}

TEST_CASE("stream also sends the output as it comes, and keeps head and tail of it") {
  SandboxTools t(kExtras);
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
  CHECK_FALSE(t.asked("sandbox.exec").contains("collect"));
  CHECK(call.out().size() == 64 * 16 * 1024);
  CHECK(call.err() == "warn");
  CHECK(json::integer(t.structured(), "stdout_bytes") == 64 * 16 * 1024);
  CHECK(json::integer(t.structured(), "stdout_missing") == 48 * 16 * 1024);
  const std::string_view text = json::text(t.structured(), "stdout");
  CHECK(text.substr(0, 3) == "AAA");
  CHECK(text.find("786432 bytes left out") != std::string_view::npos);
}

TEST_CASE("a caller that is gone stops the command with its own code") {
  SandboxTools t(kExtras);
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

TEST_CASE("extras: a folder is listed as entries") {
  SandboxTools t(kExtras);
  t.gives("sandbox.list_files", R"({"count":1})",
          {R"({"path":"/w/d","name":"d","kind":"folder","size":0,"modified_ms":1000,"mode":448,
               "owner":"u","group":"g"})"});
  t.call("file_list", R"({"sandbox_id":"s1","connect_if_missing":true,"path":"/w","depth":2})");
  REQUIRE(t.code == BH_OK);
  CHECK(json::integer(t.asked("sandbox.list_files"), "depth") == 2);
  const json::object& entry = json::list(t.structured(), "result")->at(0).get_object();
  CHECK(json::text(entry, "type") == "directory");
  CHECK(json::integer(entry, "mode") == 700);
}

TEST_CASE("extras: an upload reads the call's input, a download is streamed") {
  SandboxTools t(kExtras);
  t.gives("sandbox.write_file", R"({"size":5})");
  t.call("file_upload", R"({"sandbox_id":"s1","connect_if_missing":true,"path":"/f"})");
  REQUIRE(t.code == BH_OK);
  CHECK(json::integer(t.structured(), "size") == 5);
  CHECK(json::integer(t.asked("sandbox.write_file"), "mode") == 0644);
  CHECK((t.operations.seen().back().flags & BH_RUN_INPUT) != 0);
  t.operations.on("sandbox.read_file", [](FakeRun& run) -> Status {
    if (auto st = run.emit(BH_STREAM_DATA, "bytes"); !st) return st;
    return run.result(R"({"size":5})");
  });
  FakeCall call(t.host.raw());
  t.operations.serve(call);
  t.call(call, "file_download", R"({"sandbox_id":"s1","path":"/f"})");
  REQUIRE(t.code == BH_OK);
  CHECK(call.recorded().output[BH_STREAM_DATA] == "bytes");
  CHECK(json::integer(t.structured(), "size") == 5);
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
