// The built program, end to end. What needs isolation is skipped, and said so, where there is none.
#include <fcntl.h>
#include <stdlib.h>

#include "cli/json.h"
#include "stage.h"
#include "support/skip.h"

using namespace bh::cli;
using bh_test::Child;
using bh_test::ChildSetup;
using bh_test::has;
using bh_test::lines;
using bh_test::Stage;
using bh_test::TempDir;

namespace {

// Why nothing can be isolated here; empty: it can.
const std::string& why_not() {
  static const std::string why = [] {
    Stage stage;
    Stage::Ran ran = stage.run({"doctor", "--json"});
    boost::json::object d = parse_object_or_empty(ran.out);
    if (bool_at(d, "ready")) return std::string();
    std::string next = string_at(d, "next_step");
    return "no isolation here: " + (next.empty() ? ran.err : next);
  }();
  return why;
}

std::vector<std::string> sh(const std::string& script) { return {"run", "--", "sh", "-c", script}; }

}  // namespace

#define NEEDS_ISOLATION() \
  if (!why_not().empty()) BH_SKIP(why_not())

TEST_CASE("version and help") {
  Stage stage;
  Stage::Ran ran = stage.run({"version"});
  CHECK(ran.code == 0);
  CHECK(ran.out.rfind("bulkhead 0.", 0) == 0);
  boost::json::object v = parse_object_or_empty(stage.run({"version", "--json"}).out);
  CHECK(ran.out ==
        "bulkhead " + string_at(v, "version") + " (plugin ABI " + string_at(v, "abi") + ")\n");
  CHECK(has(stage.run({}).out, "bulkhead doctor"));
  CHECK(has(stage.run({"run", "--help"}).out, "Example:"));
}

TEST_CASE("mistakes are one sentence and 125") {
  Stage stage;
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"docter"},
                                             {"run", "ls"},
                                             {"run", "--net", "on", "--", "ls"},
                                             {"call"},
                                             {"call", "no_such_tool"},
                                             {"call", "x", "{"},
                                             {"call", "x", "@/nowhere.json"},
                                             {"tools", "--config", "/nowhere.json"},
                                             {"run", "--profile", "/nowhere.json", "--", "ls"},
                                             {"run", "--workspace", "/", "--", "ls"},
                                             {"run", "--persona", "Not A Name", "--", "ls"}}) {
    CAPTURE(arguments);
    Stage::Ran ran = stage.run(arguments);
    CAPTURE(ran.err);
    CHECK(ran.code == 125);
    CHECK(ran.out.empty());
    CHECK(lines(ran.err) == 1);
    CHECK(ran.err.rfind("bulkhead: ", 0) == 0);
  }
}

TEST_CASE("--json tells faults as JSON too") {
  Stage stage;
  Stage::Ran ran = stage.run({"call", "no_such_tool", "--json"});
  CHECK(ran.code == 125);
  boost::json::object fault = object_at(parse_object_or_empty(ran.out), "error");
  CHECK(string_at(fault, "code") == "NOT_FOUND");
  CHECK(string_at(object_at(fault, "details"), "reason") == "unknown_tool");
}

TEST_CASE("nothing of the library's operations and arguments is left in what people read") {
  Stage stage;
  const std::string config = stage.dir.write("c.json", R"({"defaults":{"limits":{"cpu":0}}})");
  const std::string backend =
      stage.dir.write("b.json", R"({"isolation":{"config":{"bwrap":{"surprise":1}}}})");
  const std::string toolset =
      stage.dir.write("t.json", R"({"toolsets":{"config":{"sandbox":{"surprise":1}}}})");
  const std::string profile = stage.dir.write("p.json", R"({"limits":{"cpu":0}})");
  std::string many = R"({"files":[)";
  for (int i = 0; i <= 1024; ++i) many += R"({"path":"/x","access":"ro"},)";
  many.back() = ']';
  const std::string rules = stage.dir.write("many.json", many + "}");
  struct Row {
    std::vector<std::string> arguments;
    std::string sentence;
  };
  const Row rows[] = {
      {{"run", "--profile", profile, "--", "true"},
       "bulkhead: the profile " + profile +
           " at /limits/cpu: expected more than 0, got 0 (give more than 0)\n"},
      {{"run", "--profile", rules, "--", "true"},
       "bulkhead: the profile " + rules +
           " at /files: expected at most 1024 items, got 1025 (give at most 1024 items)\n"},
      {{"run", "--backend", "nono", "--", "true"},
       "bulkhead: --backend: there is no isolation backend \"nono\"; known are: bwrap, "},
      {{"run", "--backend", "nono", "--", "true"},
       " (`bulkhead plugins` names those that there are)\n"},
      {{"call", "nothing"},
       "bulkhead: there is no tool \"nothing\" (`bulkhead tools` names those that there are)\n"},
      {{"tools", "--config", config},
       "bulkhead: the config file " + config +
           " at /defaults/limits/cpu: expected more than 0, got 0 (give more than 0)\n"},
      {{"run", "--config", backend, "--backend", "bwrap", "--", "true"}, "the config file " + backend +
                                                       " at /isolation/config/bwrap: unknown key"},
      {{"tools", "--config", toolset}, "the config file " + toolset +
                                           " at /toolsets/config/sandbox: unknown key"},
      {{"run", "--persona", "A B", "--", "true"}, "bulkhead: --persona: a persona's name is"},
      {{"run", "--", ""}, "bulkhead: the command's name is empty (name a program"},
  };
  for (const Row& row : rows) {
    const std::string err = stage.run(row.arguments).err;
    INFO(err << "expected: " << row.sentence);
    CHECK(has(err, row.sentence));
    for (const char* leak : {"sandbox.exec", "arguments /", "tool.list", "plugin.list"}) {
      CHECK_FALSE(has(err, leak));
    }
  }
  const std::string json = stage.run({"call", "nothing", "--json"}).out;
  CHECK_FALSE(has(json, "tool.list"));
  CHECK(has(json, "`bulkhead tools`"));
}

TEST_CASE("a key of the config file that nobody knows is refused by name") {
  Stage stage;
  stage.dir.write("home/.config/bulkhead/config.json", R"({"surprise":1})");
  Stage::Ran ran = stage.run({"tools"});
  CHECK(ran.code == 125);
  CHECK(has(ran.err, "surprise"));
}

TEST_CASE("a provider's configuration that nobody reads is refused by name") {
  for (std::string kind : {"isolation", "toolsets"}) {
    Stage stage;
    std::string file = stage.dir.write(
        "config.json", "{\"version\":1,\"" + kind + "\":{\"config\":{\"bwarp\":{}}}}");
    Stage::Ran ran = stage.run({"--config", file, "plugins"});
    CHECK(ran.code == 125);
    CHECK(has(ran.err, "/" + kind + "/config/bwarp"));
    CHECK(lines(ran.err) == 1);
  }
}

TEST_CASE("what keeps a backend or a toolset from working is said with its remedy") {
  Stage stage;
  stage.dir.write("home/.config/bulkhead/config.json",
                  R"({"isolation":{"config":{"bwrap":{"bwrap":"/nowhere/bwrap"}}},
                      "toolsets":{"config":{"sandbox":{"surprise":1}}}})");
  const char* remedy = "configure an absolute path to bubblewrap's program";
  CHECK(has(stage.run({"run", "--backend", "bwrap", "--", "true"}).err, remedy));
  Stage::Ran doctor = stage.run({"doctor", "--backend", "bwrap", "--json"});
  CHECK(doctor.code == 1);
  CHECK(string_at(parse_object_or_empty(doctor.out), "next_step") == remedy);

  CHECK(has(stage.run({"tools"}).err, "surprise"));
  Stage::Ran call = stage.run({"call", "sandbox_info"});
  CHECK(call.code == 125);
  CHECK(has(call.err, "surprise"));
}

TEST_CASE("plugins, tools and doctor: tables without colours, JSON that parses") {
  Stage stage;
  for (const char* verb : {"plugins", "tools", "doctor"}) {
    CAPTURE(verb);
    Stage::Ran text = stage.run({verb});
    CAPTURE(text.err);
    CHECK(text.code != 125);
    CHECK_FALSE(text.out.empty());
    CHECK_FALSE(has(text.out, "\x1b"));
    Stage::Ran json = stage.run({verb, "--json"});
    CHECK(json.code == text.code);
    CHECK_FALSE(parse_object_or_empty(json.out).empty());
    CHECK(lines(json.out) == 1);
  }
}

TEST_CASE("a terminal gets colours, unless NO_COLOR says otherwise") {
  for (bool no_color : {false, true}) {
    CAPTURE(no_color);
    Stage stage;
    int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0) BH_SKIP("no pseudo-terminals here");
    REQUIRE((::grantpt(master) == 0 && ::unlockpt(master) == 0));
    stage.stdout_fd = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    REQUIRE(stage.stdout_fd >= 0);
    stage.more_env = {"TERM=xterm"};
    if (no_color) stage.more_env.push_back("NO_COLOR=1");
    stage.run({"doctor"});
    char seen[65536];
    ssize_t n = ::read(master, seen, sizeof seen);
    REQUIRE(n > 0);
    CHECK(has(std::string(seen, static_cast<std::size_t>(n)), "\x1b[") == !no_color);
    ::close(stage.stdout_fd);
    ::close(master);
  }
}

TEST_CASE("a full disk behind stdout is told") {
  Stage stage;
  stage.stdout_fd = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  if (stage.stdout_fd < 0) BH_SKIP("no /dev/full");
  Stage::Ran ran = stage.run({"version"});
  CHECK(ran.code == 125);
  CHECK(has(ran.err, "No space left"));
  if (why_not().empty()) {
    ran = stage.run({"run", "--", "echo", "x"});
    CHECK(ran.code == 125);
    CHECK(has(ran.err, "No space left"));
  }
  ::close(stage.stdout_fd);
}

TEST_CASE("HOME and / are no workspace") {
  Stage stage;
  for (const std::string& cwd : {stage.home, std::string("/")}) {
    stage.cwd = cwd;
    Stage::Ran ran = stage.run({"run", "--", "true"});
    CHECK(ran.code == 125);
    CHECK(has(ran.err, "--workspace"));
  }
}

TEST_CASE("no isolation only by name and with the file's permission") {
  Stage stage;
  Stage::Ran ran = stage.run({"run", "--backend", "process", "--", "echo", "x"});
  CHECK(ran.code == 125);
  CHECK(ran.out.empty());
  CHECK(has(ran.err, "allow_unisolated"));
  stage.dir.write("home/.config/bulkhead/config.json",
                  R"({"isolation":{"allow_unisolated":true}})");
  ran = stage.run({"run", "--backend", "process", "--", "echo", "x"});
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
  CHECK(ran.out == "x\n");
}

TEST_CASE("a command's exit code, stdout and stderr are its own") {
  NEEDS_ISOLATION();
  Stage stage;
  Stage::Ran ran = stage.run(sh("echo out; echo err >&2; exit 3"));
  CHECK(ran.code == 3);
  CHECK(ran.out == "out\n");
  CHECK(ran.err == "err\n");
  CHECK(stage.run(sh("exit 255")).code == 255);
  CHECK(stage.run(sh("kill -TERM $$")).code == 128 + SIGTERM);
  CHECK(stage.run({"run", "--", "printf", "%s", "\xff\xfe"}).out == "\xff\xfe");
}

TEST_CASE("of a profile, what is not enforced is told, and another root is never silently the host") {
  NEEDS_ISOLATION();
  Stage stage;
  std::string weak = stage.dir.write("weak.json", R"({"limits":{"disk_bytes":1000000}})");
  Stage::Ran ran = stage.run({"run", "--profile", weak, "--", "true"});
  CHECK(ran.code == 0);
  CHECK(has(ran.err, "bulkhead: limits.disk_bytes is "));
  std::string image = stage.dir.write("image.json", R"({"root":{"image":"debian"},"required":[]})");
  ran = stage.run({"run", "--profile", image, "--", "true"});
  CHECK(ran.code == 125);
  CHECK(has(ran.err, "there is no image \"debian\""));
}

TEST_CASE("a program that is not there") {
  NEEDS_ISOLATION();
  Stage stage;
  Stage::Ran ran = stage.run({"run", "--", "no-such-program"});
  CHECK(ran.code == 127);
  CHECK(has(ran.err, "no-such-program"));
  CHECK(lines(ran.err) == 1);
}

TEST_CASE("a filter passes 64 MiB both ways, in less memory than that") {
  NEEDS_ISOLATION();
  Stage stage;
  std::string big(64u << 20, '\0');
  std::uint32_t state = 1;
  for (char& c : big) {
    state = state * 1664525 + 1013904223;
    c = static_cast<char>(state >> 24);
  }
  Child child(stage.setup({"run", "--", "cat"}));
  child.keep_input_open = true;
  child.pump(big, [&] { return child.out.size() >= big.size(); });
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  CHECK(child.peak_kib() > 0);
  CHECK(child.peak_kib() < 32 * 1024);
#endif
  CHECK(child.finish() == 0);
  CHECK((child.out == big));  // not printed when it fails
}

TEST_CASE("a command that does not read its input ends all the same") {
  NEEDS_ISOLATION();
  Stage stage;
  std::string big(16u << 20, 'x');
  Stage::Ran ran = stage.run({"run", "--", "head", "-c", "1"}, big);
  CHECK(ran.code == 0);
  CHECK(ran.out == "x");
}

TEST_CASE("when nobody reads stdout any more the command is stopped") {
  NEEDS_ISOLATION();
  Stage stage;
  Child child(stage.setup({"run", "--", "yes"}));
  child.read_until("y\n");
  child.close_output();
  CHECK(child.finish() == 128 + SIGPIPE);
}

TEST_CASE("the time limit is 124 and says so") {
  NEEDS_ISOLATION();
  Stage stage;
  Stage::Ran ran = stage.run({"run", "--timeout", "0.5", "--", "sleep", "1000"});
  CHECK(ran.code == 124);
  CHECK(ran.err == "bulkhead: stopped after 500 ms (time limit; --timeout S raises it)\n");
}

TEST_CASE("signals reach the command, which decides what they mean") {
  NEEDS_ISOLATION();
  struct Row {
    int number;
    const char* name;
  };
  for (Row row : {Row{SIGINT, "INT"}, Row{SIGTERM, "TERM"}, Row{SIGHUP, "HUP"},
                  Row{SIGQUIT, "QUIT"}, Row{SIGUSR1, "USR1"}, Row{SIGUSR2, "USR2"}}) {
    CAPTURE(row.name);
    Stage stage;
    Child child(stage.setup(sh(std::string("trap 'echo got; exit 7' ") + row.name +
                               "; echo ready; while :; do sleep 0.05; done")));
    child.read_until("ready\n");
    child.signal(row.number);
    CHECK(child.finish() == 7);
    CHECK(child.out == "ready\ngot\n");
  }
}

TEST_CASE("a command that does not trap a signal ends by it") {
  NEEDS_ISOLATION();
  Stage stage;
  Child child(stage.setup(sh("echo ready; exec sleep 1000")));
  child.read_until("ready\n");
  child.signal(SIGTERM);
  CHECK(child.finish() == 128 + SIGTERM);
}

TEST_CASE("a second SIGINT ends what the first one did not") {
  NEEDS_ISOLATION();
  Stage stage;
  Child child(stage.setup(sh("trap 'echo one' INT; echo ready; while :; do sleep 0.05; done")));
  child.read_until("ready\n");
  child.signal(SIGINT);
  child.read_until("one\n");
  child.signal(SIGINT);
  CHECK(child.finish() == 128 + SIGINT);
}

TEST_CASE("what one command writes the next one finds") {
  NEEDS_ISOLATION();
  Stage stage;
  CHECK(stage.run(sh("echo a > $HOME/f; echo b > /tmp/f; echo c > f")).code == 0);
  CHECK(stage.run(sh("cat $HOME/f /tmp/f f")).out == "a\nb\nc\n");
  CHECK(stage.dir.read("project/f") == "c\n");
  stage.cwd = stage.dir.make_dir("project/sub");
  Stage::Ran ran = stage.run({"run", "--workspace", stage.project, "--", "pwd"});
  CHECK(ran.out == stage.cwd + "\n");
}

TEST_CASE("a tool's answer goes to stdout") {
  NEEDS_ISOLATION();
  Stage stage;
  stage.dir.write("home/.config/bulkhead/config.json",
                  R"({"toolsets":{"config":{"sandbox":{"aliases":true,"extras":true}}}})");
  boost::json::object tools = parse_object_or_empty(stage.run({"tools", "--json"}).out);
  if (int_at(tools, "count") == 0) BH_SKIP("no toolset was built");
  Stage::Ran ran = stage.run({"call", "sandbox_execute", "-"},
                             R"({"code":"echo from inside","language":"bash"})");
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
  CHECK(has(ran.out, "from inside"));
  ran = stage.run({"call", "sandbox_run", R"({"argv":["echo","x"]})", "--json"});
  CHECK(parse_object_or_empty(ran.out).contains("content"));
  // The workspace is the user's own: it is emptied with the operator's word alone.
  stage.dir.write("project/sub/left", "x");
  ran = stage.run({"call", "sandbox_reset", R"({"level":"full"})"});
  CHECK(ran.code == 125);
  CHECK(has(ran.err, "reset_workspace"));
  CHECK(stage.dir.read("project/sub/left") == "x");
  stage.dir.write("home/.config/bulkhead/config.json",
                  R"({"toolsets":{"config":{"sandbox":{"aliases":true,"extras":true,"reset_workspace":true}}}})");
  // It lies below /tmp, as a mount: it is emptied and stays.
  ran = stage.run({"call", "sandbox_reset", R"({"level":"full"})"});
  CAPTURE(ran.out);
  CHECK(ran.code == 0);
  CHECK(has(ran.out, "\"ok\": true"));
  CHECK(stage.dir.read("project/sub/left").empty());
  ran = stage.run({"call", "sandbox_run", R"({"wrong":1})"});
  CHECK(ran.code == 125);
  CHECK(has(ran.err, "wrong"));
}

TEST_CASE("mcp ends with its client") {
  NEEDS_ISOLATION();
  Stage stage;
  stage.cwd = "/";  // where clients often start their servers
  Stage::Ran ran = stage.run(
      {"mcp"},
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})"
      "\n");
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
  CHECK(lines(ran.out) == 1);
  CHECK(has(ran.out, "\"serverInfo\""));
  CHECK(has(ran.err, "--workspace"));
  CHECK(stage.run({"mcp", "--workspace", "/nowhere"}).code == 125);
}
