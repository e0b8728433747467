#include "fake_host.h"
#include "support/catch.h"

using namespace bh_test;

namespace {
std::string answer(const std::string& revision, const std::string& tool_result) {
  Session s;
  s.open(revision);
  uint64_t tag = s.call("1");
  s.event(tag, BH_EVENT_ATTACHMENT, "\x89PNG\xff", "shot", "image/png");
  s.event(tag, BH_EVENT_ATTACHMENT, "RIFF", "sound", "audio/wav");
  s.event(tag, BH_EVENT_ATTACHMENT, "plain \"text\"", "note ä.txt", "text/plain");
  s.event(tag, BH_EVENT_ATTACHMENT, "\xff\x00", "raw", "");
  return at(s.result(tag, tool_result), "result");
}
}  // namespace

TEST_CASE("content is told in the words of the revision") {
  struct Row {
    const char* what;
    const char* revision;
    const char* part;
    const char* expected;
  };
  const Row rows[] = {
      {"text", "2024-11-05",
       R"({"type":"text","text":"a\u0062\n","annotations":{"priority":0.50}})",
       R"({"type":"text","text":"a\u0062\n","annotations":{"priority":0.50}})"},
      {"image", "2024-11-05", R"({"type":"attachment","attachment":"shot"})",
       R"({"type":"image","data":"iVBORw==","mimeType":"image/png"})"},
      {"audio", "2025-03-26", R"({"type":"attachment","attachment":"sound"})",
       R"({"type":"audio","data":"UklGRg==","mimeType":"audio/wav"})"},
      {"audio of old", "2024-11-05", R"({"type":"attachment","attachment":"sound"})",
       R"({"type":"resource","resource":{"uri":"attachment:///sound","mimeType":"audio/wav","blob":"UklGRg=="}})"},
      {"text beside", "2025-11-25", R"({"type":"attachment","attachment":"note ä.txt"})",
       R"({"type":"resource","resource":{"uri":"attachment:///note%20%C3%A4.txt","mimeType":"text/plain","text":"plain \"text\""}})"},
      {"bytes with an address", "2025-11-25",
       R"({"type":"resource","attachment":"shot","uri":"file:///x.png"})",
       R"({"type":"resource","resource":{"uri":"file:///x.png","mimeType":"image/png","blob":"iVBORw=="}})"},
      {"text resource", "2025-11-25",
       R"({"type":"resource","uri":"test://r","media_type":"text/plain","text":"T"})",
       R"({"type":"resource","resource":{"uri":"test://r","mimeType":"text/plain","text":"T"}})"},
      {"link", "2025-06-18",
       R"({"type":"link","uri":"file:///a","name":"a","size":10,"media_type":"text/x"})",
       R"({"type":"resource_link","uri":"file:///a","name":"a","mimeType":"text/x","size":10})"},
      {"link of old", "2025-03-26", R"({"type":"link","uri":"file:///a","name":"a"})",
       R"({"type":"text","text":"a: file:///a"})"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    std::string got = answer(row.revision, R"({"content":[)" + std::string(row.part) + "]}");
    if (std::string(row.part).find("shot") != std::string::npos) {
      // The bytes end in one that is no text, so base64 shows them all.
      std::string expected = row.expected;
      expected.replace(expected.find("iVBORw=="), 8, "iVBOR/8=");
      CHECK(at(got, "content") == "[" + expected + "]");
    } else {
      CHECK(at(got, "content") == "[" + std::string(row.expected) + "]");
    }
  }
}

TEST_CASE("structured results go to those who know them, and as text to all") {
  const std::string result = R"({"content":[],"structured":{"b":1.0,"a":[1E2]},"meta":{"x/y":1}})";
  CHECK(
      answer("2025-06-18", result) ==
      R"({"content":[{"type":"text","text":"{\"b\":1.0,\"a\":[1E2]}"}],"structuredContent":{"b":1.0,"a":[1E2]},"isError":false,"_meta":{"x/y":1}})");
  CHECK(answer("2025-03-26", result) ==
        R"({"content":[{"type":"text","text":"{\"b\":1.0,\"a\":[1E2]}"}],"isError":false,"_meta":{"x/y":1}})");
  const std::string nothing = R"({"content":[],"structured":{"result":[]}})";
  CHECK(answer("2025-11-25", nothing) ==
        R"({"content":[],"structuredContent":{"result":[]},"isError":false})");
  CHECK(at(answer("2025-03-26", nothing), "content") ==
        R"([{"type":"text","text":"{\"result\":[]}"}])");
  CHECK(answer("2025-11-25",
               R"({"content":[{"type":"text","text":"t"}],"structured":[1],"is_error":true})") ==
        R"({"content":[{"type":"text","text":"t"}],"isError":true})");
}

TEST_CASE("what is missing is said") {
  CHECK(answer("2025-11-25", R"({"content":[{"type":"attachment","attachment":"gone"}]})")
            .find("\\\"gone\\\" is missing") != std::string::npos);
  CHECK(answer("2025-11-25", R"({"content":[{"type":"hologram"}]})").find("hologram") !=
        std::string::npos);
  bh::mcp::Limits limits;
  limits.attachment_bytes = 10;
  Session s(limits);
  s.open();
  uint64_t tag = s.call("1");
  s.event(tag, BH_EVENT_ATTACHMENT, std::string(8, 'x'), "small", "image/png");
  s.event(tag, BH_EVENT_ATTACHMENT, std::string(3, 'x'), "large", "image/png");
  std::string got = s.result(tag, R"({"content":[{"type":"attachment","attachment":"small"},)"
                                  R"({"type":"attachment","attachment":"large"}]})");
  CHECK(got.find("eHh4eHh4eHg=") != std::string::npos);
  CHECK(got.find("of 3 bytes was left out") != std::string::npos);
}

TEST_CASE("an attachment that came in pieces is left out, and its size said") {
  Session s;
  s.open();
  uint64_t tag = s.call("1");
  bh::mcp::HostEvent e;
  e.tag = tag;
  e.kind = BH_EVENT_ATTACHMENT;
  e.stream = BH_STREAM_ATTACHED + 1;
  e.name = "film";
  e.type = "video/mp4";
  s.engine.on_event(e);
  e.kind = BH_EVENT_OUTPUT;
  e.name = e.type = {};
  for (const char* piece : {"12345", "678", ""}) {
    e.data = piece;
    s.engine.on_event(e);
  }
  CHECK(s.result(tag, R"({"content":[{"type":"attachment","attachment":"film"}]})")
            .find("of 8 bytes was left out") != std::string::npos);
}

TEST_CASE("a tool that answers nonsense is an internal error") {
  for (const char* nonsense : {"", "7", "{}", R"({"content":3})", "{"}) {
    Session s;
    s.open();
    CHECK(at(s.result(s.call("1"), nonsense), "error", "code") == "-32603");
  }
}

TEST_CASE("a fault is a result that the model can read, and a program too") {
  Session s;
  s.open();
  std::string got = s.fault(s.call("1"), BH_INVALID_ARGUMENT, "must be a string",
                            R"({"reason":"schema","field":"/command","keyword":"type"})");
  CHECK(at(got, "result", "isError") == "true");
  CHECK(at(got, "result", "content") ==
        R"([{"type":"text","text":"Error executing tool t: Argument /command: must be a string"}])");
  CHECK(
      at(got, "result", "_meta", "bulkhead/fault") ==
      R"({"code":"INVALID_ARGUMENT","message":"must be a string","details":{"reason":"schema","field":"/command","keyword":"type"}})");

  got = s.fault(s.call("2"), BH_PERMISSION_DENIED, "No.", R"({"reason":"policy","remedy":"Ask."})");
  CHECK(at(got, "result", "content") == R"([{"type":"text","text":"Error executing tool t: No. Ask."}])");
  got = s.fault(s.call("3"), BH_NOT_FOUND, "no such sandbox", R"({"reason":"sandbox"})");
  CHECK(at(got, "result", "isError") == "true");
  got =
      s.fault(s.call("4"), BH_NOT_FOUND, "There is no tool \"x\".", R"({"reason":"unknown_tool"})");
  CHECK(at(got, "error", "code") == "-32602");
  s.host.refuse = Fault(BH_RESOURCE_EXHAUSTED, "all workers are busy");
  got = s.ask(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"t"}})");
  CHECK(at(got, "result", "_meta", "bulkhead/fault", "code") == "\"RESOURCE_EXHAUSTED\"");
}
