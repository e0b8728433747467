#include "cli/parse.h"

#include "cli/verbs.h"
#include "support/catch.h"
#include "text.h"

using namespace bh::cli;
using bh_test::has;

namespace {

Options parsed(const std::vector<std::string>& arguments) {
  Result<Options> o = parse_arguments(arguments);
  if (!o) FAIL(sentence(o.error()));
  return *o;
}

Problem refused(const std::vector<std::string>& arguments) {
  Result<Options> o = parse_arguments(arguments);
  if (o) FAIL("was not refused");
  return o.error();
}

}  // namespace

TEST_CASE("a verb and its flags become plain data") {
  Options o = parsed({"run", "--net", "unrestricted", "--workspace=/w", "--persona", "p",
                      "--backend", "bwrap", "--timeout", "1.5", "--profile", "f.json", "--", "ls",
                      "-la", "--help", "--", "[x]"});
  CHECK(o.verb == Verb::kRun);
  CHECK(o.net == "unrestricted");
  CHECK(o.workspace == "/w");
  CHECK(o.persona == "p");
  CHECK(o.backend == "bwrap");
  CHECK(o.timeout_ms == 1500);
  CHECK(o.profile == "f.json");
  CHECK(o.command == std::vector<std::string>{"ls", "-la", "--help", "--", "[x]"});
}

TEST_CASE("what is not given stays absent") {
  Options o = parsed({"run", "--", "true"});
  CHECK_FALSE(o.net);
  CHECK_FALSE(o.workspace);
  CHECK_FALSE(o.persona);
  CHECK_FALSE(o.backend);
  CHECK_FALSE(o.timeout_ms);
  CHECK_FALSE(o.config);
  CHECK(o.plugin_path.empty());
}

TEST_CASE("global flags stand before or after the verb") {
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"--config", "/c", "--plugin-path", "/a", "--plugin-path", "/b", "tools"},
           {"tools", "--config", "/c", "--plugin-path", "/a", "--plugin-path", "/b"},
           {"--plugin-path", "/a", "tools", "--plugin-path", "/b", "--config=/c"}}) {
    Options o = parsed(arguments);
    CHECK(o.verb == Verb::kTools);
    CHECK(o.config == "/c");
    CHECK(o.plugin_path == std::vector<std::string>{"/a", "/b"});
  }
}

TEST_CASE("call takes a tool and its arguments") {
  Options o = parsed({"call", "echo", "{\"text\":\"a b\"}", "--json"});
  CHECK(o.tool == "echo");
  CHECK(o.arguments == "{\"text\":\"a b\"}");
  CHECK(o.json);
  CHECK(parsed({"call", "echo"}).arguments == "{}");
  CHECK(parsed({"call", "echo", "-"}).arguments == "-");
  CHECK(parsed({"call", "echo", "@f.json"}).arguments == "@f.json");
  CHECK(has(refused({"call"}).message, "needs the name of a tool"));
}

TEST_CASE("every verb has help with an example and exit codes") {
  for (const VerbText& v : verb_texts()) {
    CAPTURE(v.name);
    std::string help = parsed({v.name, "--help"}).help;
    CHECK(has(help, v.summary));
    CHECK(has(help, std::string("Usage: bulkhead ") + v.usage));
    CHECK(has(help, "\nExample:\n"));
    CHECK(has(help, v.examples));
    CHECK(has(help, "\nExit codes:\n"));
    CHECK(has(help, "--config FILE"));
    CHECK(has(help, "\x1b") == false);
  }
  std::string all = parsed({"--help"}).help;
  CHECK(parsed({"help"}).help == all);
  CHECK(parsed({"help", "run"}).help == parsed({"run", "--help"}).help);
  for (const VerbText& v : verb_texts()) CHECK(has(all, v.summary));
}

TEST_CASE("no arguments: the short help") {
  Options o = parsed({});
  CHECK(o.verb == Verb::kNone);
  CHECK(o.help == short_help());
}

TEST_CASE("an unknown verb names the nearest") {
  Problem p = refused({"docter"});
  CHECK(p.message == "there is no verb \"docter\"");
  CHECK(p.remedy == "did you mean `bulkhead doctor`?");
  CHECK(p.exit_code == 125);
  CHECK(has(refused({"frobnicate"}).remedy, "doctor, plugins, tools"));
}

TEST_CASE("an unknown flag names the nearest") {
  CHECK(has(refused({"run", "--workspce", "/w", "--", "ls"}).remedy, "--workspace"));
  CHECK(has(refused({"doctor", "--frob=1"}).message, "bulkhead doctor has no flag --frob"));
  // Permission to run without isolation is the config file's alone.
  CHECK(has(refused({"run", "--allow-unisolated", "--", "ls"}).message, "no flag"));
}

TEST_CASE("run wants its command after --") {
  CHECK(has(refused({"run", "ls"}).message, "after --"));
  CHECK(has(refused({"run", "ls"}).remedy, "bulkhead run -- ls"));
  CHECK(has(refused({"run"}).message, "needs a command"));
  CHECK(has(refused({"run", "--"}).message, "needs a command"));
  CHECK(has(refused({"tools", "--", "ls"}).message, "only bulkhead run"));
}

TEST_CASE("values are checked where they are read") {
  for (const char* bad : {"0", "-1", "x", "1s", "nan", "inf", "1e99", ""}) {
    CAPTURE(bad);
    Result<Options> o = parse_arguments({"run", std::string("--timeout=") + bad, "--", "true"});
    CHECK_FALSE(o);
  }
  CHECK(has(refused({"run", "--net", "on", "--", "ls"}).message, "off or unrestricted"));
  CHECK_FALSE(parse_arguments({"run", "--net"}));
}
