// What is answered to which message: transcripts.
#include "fake_host.h"
#include "support/catch.h"

using namespace bh_test;

TEST_CASE("the revision is the client's where it is known, else the newest") {
  struct Row {
    const char* asked;
    const char* answered;
    bool titled;
  };
  const Row rows[] = {
      {"2024-10-07", "2024-10-07", false}, {"2024-11-05", "2024-11-05", false},
      {"2025-03-26", "2025-03-26", false}, {"2025-06-18", "2025-06-18", true},
      {"2025-11-25", "2025-11-25", true},  {"2026-07-28", "2025-11-25", true},
      {"1.0", "2025-11-25", true},         {"", "2025-11-25", true},
  };
  for (const Row& row : rows) {
    INFO(row.asked);
    Session s;
    std::string answer =
        s.ask(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" +
              std::string(row.asked) +
              R"(","capabilities":{},"clientInfo":{"name":"x","version":"y"}}})");
    CHECK(at(answer, "id") == "0");
    CHECK(at(answer, "result", "protocolVersion") == '"' + std::string(row.answered) + '"');
    CHECK(at(answer, "result", "serverInfo", "name") == "\"bulkhead\"");
    CHECK(at(answer, "result", "serverInfo", "version") == "\"1.2.3\"");
    CHECK(at(answer, "result", "serverInfo", "title") == (row.titled ? "\"Bulkhead\"" : ""));
    CHECK(at(answer, "result", "capabilities") == R"({"logging":{},"tools":{}})");
  }
}

TEST_CASE("each mistake has its code, and its id where it can be read") {
  struct Row {
    const char* message;
    const char* code;
    const char* id;
  };
  const std::string deep = R"({"jsonrpc":"2.0","id":8,"method":"ping","params":{"x":)" +
                           std::string(130, '[') + std::string(130, ']') + "}}";
  const std::string long_id =
      R"({"jsonrpc":"2.0","id":")" + std::string(5000, 'x') + R"(","method":"ping"})";
  const Row rows[] = {
      {"{", "-32700", "null"},
      {"hello", "-32700", "null"},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xff\"}", "-32700", "null"},
      {"\xff\xfe", "-32700", "null"},
      {"1", "-32600", "null"},
      {"\"ping\"", "-32600", "null"},
      {"{}", "-32600", "null"},
      {R"({"id":1,"method":"ping"})", "-32600", "1"},
      {R"({"jsonrpc":"1.0","id":1,"method":"ping"})", "-32600", "1"},
      {R"({"jsonrpc":"2.0","id":1})", "-32600", "1"},
      {R"({"jsonrpc":"2.0","id":"q","method":7})", "-32600", "\"q\""},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", "-32600", "null"},
      {R"({"jsonrpc":"2.0","id":{},"method":"ping"})", "-32600", "null"},
      {R"({"jsonrpc":"2.0","id":true,"method":"ping"})", "-32600", "null"},
      {R"({"jsonrpc":"2.0","id":5,"method":"ping","id":6})", "-32600", "5"},
      {R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"a":1,"a":2}})", "-32600", "5"},
      {deep.c_str(), "-32600", "8"},
      {long_id.c_str(), "-32600", "null"},
      {"[]", "-32600", "null"},
      {R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", "-32600", "null"},
      {R"({"jsonrpc":"2.0","id":1,"method":"resources/list"})", "-32601", "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"server/discover"})", "-32601", "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})", "-32602", "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call"})", "-32602", "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":3}})", "-32602", "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":[]}})",
       "-32602", "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":{}}}})",
       "-32602", "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"nonsense"}})", "-32602",
       "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":4}})", "-32602", "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":""}})", "-32602", "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"loud"}})",
       "-32602", "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"logging/setLevel"})", "-32602", "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}})",
       "-32600", "1"},
  };
  Session s;
  s.open();
  for (const Row& row : rows) {
    INFO(row.message);
    std::string answer = s.ask(row.message);
    CHECK(s.said.size() == 1);
    CHECK(at(answer, "error", "code") == row.code);
    CHECK(at(answer, "id") == row.id);
    CHECK(at(answer, "error", "message").size() > 10);
  }
  CHECK(s.host.started.empty());
}

TEST_CASE("what needs no answer gets none") {
  Session s;
  s.open();
  for (const char* message : {
           R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
           R"({"jsonrpc":"2.0","method":"notifications/roots/list_changed"})",
           R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}})",
           R"({"jsonrpc":"2.0","method":"notifications/cancelled"})",
           R"({"jsonrpc":"2.0","method":"tools/call","params":{"name":"t"}})",
           R"({"jsonrpc":"2.0","id":4,"result":{}})",
           R"({"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}})",
       }) {
    INFO(message);
    CHECK(s.ask(message).empty());
  }
  CHECK(s.host.started.empty());
}

TEST_CASE("ids come back as they were written") {
  Session s;
  s.open();
  for (const char* id : {"0", "-7", "1.50", "1e3", "\"\"", "\"a\\u0062\\n\"", "\"\xC3\xA4\"",
                         "12345678901234567890123"}) {
    CHECK(at(s.ask(R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":"ping"})"), "id") ==
          id);
    uint64_t tag = s.call(id);
    CHECK(at(s.result(tag), "id") == id);
  }
}

TEST_CASE("nothing but ping before initialize") {
  Session s;
  CHECK(at(s.ask(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"), "result") == "{}");
  CHECK(at(s.ask(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})"), "error", "code") ==
        "-32600");
  CHECK(at(s.ask(R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"t"}})"),
           "error", "code") == "-32600");
  CHECK(at(s.ask(R"({"jsonrpc":"2.0","id":4,"method":"initialize","params":{}})"), "error",
           "code") == "-32602");
  CHECK(at(s.ask(R"({"jsonrpc":"2.0","id":5,"method":"initialize"})"), "error", "code") ==
        "-32602");
  CHECK(s.host.started.empty());
}

TEST_CASE("batches in 2025-03-26 are answered together") {
  Session s;
  s.open("2025-03-26");
  CHECK(s.ask(R"([{"jsonrpc":"2.0","id":1,"method":"ping"},)"
              R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a"}},)"
              R"({"jsonrpc":"2.0","method":"notifications/initialized"},)"
              R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"b"}},)"
              R"({"jsonrpc":"2.0","id":4,"method":"nope"},7,[]])")
            .empty());
  REQUIRE(s.host.started.size() == 2);
  uint64_t a = s.host.started[0].tag, b = s.host.started[1].tag;
  CHECK(s.result(b).empty());
  std::string answer = s.result(a);
  std::vector<std::string> ids;
  JsonView(answer).each_element([&](JsonView e) { ids.emplace_back(e.member("id").raw()); });
  CHECK(ids == std::vector<std::string>{"1", "4", "null", "null", "3", "2"});

  CHECK(at(s.ask("[]"), "error", "code") == "-32600");
  CHECK(s.ask(R"([{"jsonrpc":"2.0","method":"notifications/initialized"}])").empty());
}

TEST_CASE("a cancelled request of a batch does not hold the others back") {
  Session s;
  s.open("2025-03-26");
  s.ask(R"([{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}},)"
        R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b"}}])");
  REQUIRE(s.host.started.size() == 2);
  CHECK(s.result(s.host.started[0].tag).empty());
  std::string answer = s.cancel("2");
  CHECK(answer.find("\"id\":1") != std::string::npos);
  CHECK(answer.find("\"id\":2") == std::string::npos);
}

TEST_CASE("a batch that is too long, or whose answers are, is told so") {
  bh::mcp::Limits limits;
  limits.batch_elements = 2;
  limits.batch_bytes = 100;
  Session s(limits);
  s.open("2025-03-26");
  std::string ping = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  CHECK(at(s.ask("[" + ping + "," + ping + "," + ping + "]"), "error", "code") == "-32600");
  s.ask(R"([{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}])");
  std::string answer = s.result(s.host.started[0].tag, R"({"content":[{"type":"text","text":")" +
                                                           std::string(200, 'x') + "\"}]}");
  CHECK(answer.find("-32603") != std::string::npos);
  CHECK(answer.find("\"id\":1") != std::string::npos);
}
