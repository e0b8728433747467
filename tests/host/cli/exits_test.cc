#include "cli/exits.h"

#include "cli/json.h"
#include "support/catch.h"

using namespace bh::cli;

namespace {

Exit exit_for(const std::string& result, std::optional<std::int64_t> timeout = {}) {
  return exit_of(parse_object_or_empty(result), timeout);
}

std::string line(const Exit& e) { return e.notes.empty() ? "" : sentence(e.notes.front()); }

}  // namespace

TEST_CASE("exit codes, each with its line") {
  struct Row {
    const char* end;
    int code;
    const char* said;  // a part of the line; empty: no line
  };
  const Row rows[] = {
      {R"({"reason":"code","code":0})", 0, ""},
      {R"({"reason":"code","code":3})", 3, ""},
      {R"({"reason":"code","code":124})", 124, ""},
      {R"({"reason":"code","code":255})", 255, ""},
      {R"({"reason":"signal","signal":15})", 143, ""},
      {R"({"reason":"signal","signal":9})", 137, ""},
      {R"({"reason":"time"})", 124, "stopped after 10 s (time limit; --timeout S raises it)"},
      {R"({"reason":"memory","signal":9})", 137, "memory limit"},
      {R"({"reason":"memory"})", 137, "memory limit"},
      {R"({"reason":"output"})", 137, "output limit"},
      {R"({"reason":"policy"})", 125, "policy"},
      {R"({"reason":"stopped"})", 125, "stopped from outside"},
      {R"({"reason":"lost"})", 125, "lost"},
      {R"({"reason":"unknown"})", 125, "not known"},
      {R"({"reason":"something new"})", 125, "not known"},
      {R"({})", 125, "not known"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.end);
    Exit e = exit_for(std::string("{\"exit\":") + row.end + "}", 10000);
    CHECK(e.code == row.code);
    CHECK(e.notes.empty() == (*row.said == '\0'));
    CHECK(line(e).find(row.said) != std::string::npos);
  }
}

TEST_CASE("without --timeout the measured time is said") {
  Exit e = exit_for(R"({"exit":{"reason":"time"},"wall_ms":1500})");
  CHECK(line(e) == "bulkhead: stopped after 1.5 s (time limit; --timeout S raises it)\n");
}

TEST_CASE("denials are told of a command that failed, and only of that") {
  std::string denials = R"("denials":[{"message":"write to /etc/passwd: files are read-only"}])";
  CHECK(exit_for(R"({"exit":{"reason":"code","code":0},)" + denials + "}").notes.empty());
  Exit e = exit_for(R"({"exit":{"reason":"code","code":1},)" + denials + "}");
  REQUIRE(e.notes.size() == 1);
  CHECK(line(e) == "bulkhead: refused: write to /etc/passwd: files are read-only\n");
  std::string many;
  for (int i = 0; i < 9; ++i) many += std::string(i == 0 ? "" : ",") + R"({"message":"m"})";
  e = exit_for(R"({"exit":{"reason":"code","code":1},"denials":[)" + many + "]}");
  CHECK(e.notes.size() == 6);
  CHECK(e.notes.back().message == "refused: 4 more");
}

TEST_CASE("output that is still open is told") {
  Exit e = exit_for(R"({"exit":{"reason":"code","code":0},"output_open":true})");
  CHECK(e.code == 0);
  CHECK(line(e).find("still held its output") != std::string::npos);
}

TEST_CASE("a command that our own signal ended ends by that signal") {
  boost::json::object stopped =
      parse_object_or_empty(R"({"exit":{"reason":"stopped","signal":null}})");
  CHECK(exit_of(stopped, {}, 15).code == 143);
  CHECK(exit_of(stopped, {}, 15).notes.empty());
  CHECK(exit_of(stopped, {}, 0).code == 125);
  stopped = parse_object_or_empty(R"({"exit":{"reason":"stopped","signal":9}})");
  CHECK(exit_of(stopped, {}, 15).code == 137);
}
