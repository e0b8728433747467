// The other tools that Nous documents: files, packages, reset and info of the persona's sandbox.
#include "sandbox_tools.h"

using namespace sandbox_tools;  // NOLINT(google-build-using-namespace)

namespace {

std::string file(const char* name, const char* kind) {
  return R"({"path":"/w/)" + std::string(name) + R"(","name":")" + name + R"(","kind":")" + kind +
         R"(","size":3,"modified_ms":1,"mode":420,"owner":"u","group":"g"})";
}

struct Nous : SandboxTools {
  Nous() : SandboxTools(kAliases) {}
  void reads(std::string bytes, size_t size) {
    operations.on("sandbox.read_file", [=](FakeRun& run) -> Status {
      if (auto st = run.emit(BH_STREAM_DATA, bytes); !st) return st;
      return run.result(R"({"size":)" + std::to_string(size) + "}");
    });
  }
  void network(const char* mode) {
    gives("host.inspect", R"({"persona":"p","defaults":{"network":")" + std::string(mode) + "\"}}");
  }
};

}  // namespace

TEST_CASE("nous files: listing and reading") {
  Nous t;
  t.gives("sandbox.list_files", R"({"count":2})", {file("a", "file"), file("d", "folder")});
  t.call("sandbox_files", R"({"operation":"list"})");
  REQUIRE(t.code == BH_OK);
  CHECK(json::print(t.structured()) ==
        R"({"ok":true,"files":[{"name":"a","path":"/w/a","is_dir":false,"size":3},)"
        R"({"name":"d","path":"/w/d","is_dir":true,"size":3}]})");
  CHECK(json::text(t.asked("sandbox.list_files"), "path") == ".");
  CHECK_FALSE(t.asked("sandbox.list_files").contains("sandbox"));

  t.reads("text", 4);
  t.call("sandbox_files", R"({"operation":"read","path":"a"})");
  CHECK(json::print(t.structured()) == R"({"ok":true,"content":"text","total_bytes":4})");
  CHECK(json::integer(t.asked("sandbox.read_file"), "size") == 8192);
  t.reads(std::string(8191, 'x') + "\xC3", 9000);  // the limit cuts a character in two
  t.call("sandbox_files", R"({"operation":"read","path":"a"})");
  CHECK(json::boolean(t.structured(), "truncated"));
  CHECK(json::text(t.structured(), "content") == std::string(8191, 'x'));
  CHECK(json::integer(t.structured(), "total_bytes") == 9000);
  t.reads("\x89PNG", 4);
  t.call("sandbox_files", R"({"operation":"read","path":"plot.PNG"})");
  CHECK(json::print(t.structured()) ==
        R"({"ok":true,"content_type":"image/png","content_base64":"iVBORw==","size":4})");
}

TEST_CASE("nous files: writing, appending and deleting") {
  Nous t;
  t.gives("sandbox.write_file", R"({"size":2})");
  t.call("sandbox_files", R"({"operation":"write","path":"a","content":"hi"})");
  CHECK(json::boolean(t.structured(), "ok"));
  CHECK(json::text(t.structured(), "path") == "a");
  CHECK(t.sent("sandbox.write_file") == "hi");
  CHECK_FALSE(t.asked("sandbox.write_file").contains("append"));
  t.call("sandbox_files", R"({"operation":"append","path":"a","content":""})");
  CHECK(json::boolean(t.asked("sandbox.write_file"), "append"));
  t.gives("sandbox.remove_files", R"({"removed":1})");
  t.call("sandbox_files", R"({"operation":"delete","path":"a"})");
  CHECK(json::print(t.structured()) == R"({"ok":true,"path":"a"})");
  t.refuses("sandbox.remove_files", BH_FAILED_PRECONDITION, "a folder", "is_folder");
  t.gives("sandbox.remove_folders", R"({"removed":1})");
  t.call("sandbox_files", R"({"operation":"delete","path":"d"})");
  CHECK(json::boolean(t.structured(), "ok"));
}

TEST_CASE("nous files: what did not work is said, what stopped the call is not") {
  Nous t;
  t.refuses("sandbox.read_file", BH_NOT_FOUND, "there is no a", "file_not_found");
  t.call("sandbox_files", R"({"operation":"read","path":"a"})");
  CHECK(t.code == BH_OK);
  CHECK(t.is_error());
  CHECK(json::print(t.structured()) == R"({"ok":false,"error":"there is no a"})");
  t.call("sandbox_files", R"({"operation":"write","path":"a"})");
  CHECK(t.is_error());
  t.call("sandbox_files", R"({"operation":"read"})");
  CHECK(t.is_error());
  t.refuses("sandbox.read_file", BH_CANCELLED, "", "cancelled");
  t.call("sandbox_files", R"({"operation":"read","path":"a"})");
  CHECK(t.code == BH_CANCELLED);
}

TEST_CASE("nous install: pip and npm, and what they say") {
  Nous t;
  t.network("unrestricted");
  t.exec_gives(exited(kFine,
                      "Collecting b\nRequirement already satisfied: a in /x (1.0)\n"
                      "Requirement already satisfied: other in /x (1.0)\n"
                      "Successfully installed b-2.0 dash-name-3.1\n"));
  t.call("sandbox_install", R"({"packages":["a","b"]})");
  REQUIRE(t.code == BH_OK);
  CHECK(json::boolean(t.structured(), "ok"));
  CHECK(t.structured().at("installed") == json::value({"a", "b==2.0", "dash-name==3.1"}));
  CHECK(json::text(t.structured(), "output").find("Collecting b") != std::string::npos);
  const json::object asked = t.asked("sandbox.exec");
  const json::array& argv = *json::list(asked, "argv");
  CHECK(argv.at(argv.size() - 2) == json::value("a"));
  CHECK(argv.at(4) == json::value(""));
  t.exec_gives(exited(kFine, "npm-has left-pad@1.3.0\n"));
  t.call("sandbox_install", R"({"packages":["left-pad"],"manager":"npm"})");
  CHECK(t.structured().at("installed") == json::value({"left-pad@1.3.0"}));
  t.exec_gives(exited(R"({"reason":"code","code":1,"signal":null})", "", "no match"));
  t.call("sandbox_install", R"({"packages":["x"]})");
  CHECK(t.is_error());
  CHECK_FALSE(json::boolean(t.structured(), "ok", true));
  CHECK(json::text(t.structured(), "output") == "no match");
}

TEST_CASE("nous install: what is refused, and that a network is needed") {
  Nous t;
  t.call("sandbox_install", R"({"packages":["curl"],"manager":"apt"})");
  CHECK(t.code == BH_UNIMPLEMENTED);
  CHECK(t.detail("field") == "/manager");
  t.call("sandbox_install", R"({"packages":[]})");
  CHECK(t.detail("field") == "/packages");
  t.call("sandbox_install", R"({"packages":["a","--index-url=x"]})");
  CHECK(t.detail("field") == "/packages/1");
  t.network("off");
  t.call("sandbox_install", R"({"packages":["a"]})");
  CHECK(t.code == BH_FAILED_PRECONDITION);
  CHECK(t.detail("reason") == "network_off");
  CHECK_FALSE(t.detail("remedy").empty());
  CHECK(t.runs("sandbox.exec") == 0);
  t.exec_gives(exited(kFine, "Successfully installed a-1\n"));
  t.call("sandbox_install", R"({"packages":["./a-1-py3-none-any.whl"]})");
  REQUIRE(t.code == BH_OK);
  const json::object asked = t.asked("sandbox.exec");
  CHECK(json::list(asked, "argv")->at(4) == json::value("--no-index"));
}

TEST_CASE("nous info: the persona's own sandbox, which can be used by its id from then on") {
  Nous t;
  t.exec_gives(exited(kFine, "pip six 1.16.0\nnpm @a/b 2.0\nnonsense\n"));
  t.gives("sandbox.get", R"({"sandbox":"s1","expires_ms":null})");
  t.gives("sandbox.list_files", "{}", {file("a", "file")});
  t.call("sandbox_info", "{}");
  REQUIRE(t.code == BH_OK);
  CHECK(json::value(t.structured()) == *json::parse(R"({"id":"s1","persona":"p",
    "files":[{"name":"a","path":"/w/a","is_dir":false,"size":3}],
    "packages":[{"name":"six","version":"1.16.0","manager":"pip"},
                {"name":"@a/b","version":"2.0","manager":"npm"}],
    "limits":{"wall_ms":600000,"memory_bytes":2147483648},"expires_at":null})"));
  t.gives("sandbox.health", R"({"healthy":true})");
  t.call("sandbox_healthcheck", R"({"sandbox_id":"s1"})");
  CHECK(t.code == BH_OK);
}

TEST_CASE("nous reset: a workspace of the user's own is emptied only with the operator's word") {
  const std::string own = R"({"persona":"p","defaults":{"network":"off","workspace":"/src/project"}})";
  Nous t;
  t.gives("host.inspect", own);
  t.exec_gives(exited(kFine));
  for (const char* args : {"{}", R"({"level":"files"})", R"({"level":"full"})"}) {
    t.call("sandbox_reset", args);
    CHECK(t.code == BH_PERMISSION_DENIED);
    CHECK(t.runs("sandbox.exec") == 0);
  }
  t.call("sandbox_reset", R"({"level":"packages"})");
  CHECK(t.code == BH_OK);
  CHECK(t.runs("sandbox.exec") == 1);

  SandboxTools permitted(R"({"aliases":true,"reset_workspace":true})");
  permitted.gives("host.inspect", own);
  permitted.exec_gives(exited(kFine));
  permitted.call("sandbox_reset", "{}");
  CHECK(permitted.code == BH_OK);
  CHECK(permitted.runs("sandbox.exec") == 1);
}

TEST_CASE("nous reset: files, packages, or all and the sandbox with it") {
  Nous t;
  t.gives("sandbox.kill", "{}");
  t.exec_gives(exited(kFine));
  const auto level = [&](const char* args) {
    t.call("sandbox_reset", args);
    REQUIRE(t.code == BH_OK);
    CHECK(json::boolean(t.structured(), "ok"));
    const json::object asked = t.asked("sandbox.exec");
    return std::string(json::view(json::list(asked, "argv")->at(4).get_string()));
  };
  CHECK(level("{}") == "files");
  CHECK(level(R"({"level":"packages"})") == "packages");
  CHECK(t.runs("sandbox.kill") == 0);
  CHECK(level(R"({"level":"full"})") == "full");
  CHECK(json::text(t.asked("sandbox.kill"), "sandbox") == "s1");
  t.exec_gives(exited(R"({"reason":"code","code":1,"signal":null})", "", "read-only"));
  t.call("sandbox_reset", R"({"level":"full"})");
  CHECK(t.is_error());
  CHECK(json::text(t.structured(), "error").find("read-only") != std::string::npos);
  CHECK(t.runs("sandbox.kill") == 1);
}
