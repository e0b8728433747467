// The operations files.*, over a store in memory.
#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/json.h"
#include "measured.h"
#include "support/catch.h"
#include "support/embedder.h"
#include "support/skip.h"

using bh_test::Answer;
using bh_test::Embedder;
using bh_test::number;
using bh_test::Place;
using bh_test::resident_kib;
namespace json = bh::json;

namespace {

std::string with_store(const Place& place, const std::string& store = "{}",
                       const std::string& more = "") {
  return bh_test::config_at(place.path + "/d",
                            R"(,"files":{"store":"memory","config":{"memory":)" + store + "}" +
                                more + "}");
}

std::string member(const std::string& result, const char* key) {
  auto o = json::parse_object(result);
  return o ? std::string(json::get_string(*o, key)) : "no object: " + result;
}

std::vector<std::string> names_of(const Answer& answer) {
  std::vector<std::string> out;
  for (const std::string& item : answer.items) out.push_back(member(item, "path"));
  return out;
}

// All of a run's data, which may be more than memory should hold.
struct Drained {
  std::int64_t bytes = 0;
  Answer answer;
};

Drained drain(Embedder& host, const char* operation, const std::string& args) {
  Drained out;
  bh_request* r = Embedder::request(operation, args, &out.answer.fault);
  if (r == nullptr) return out;
  bh_run* run = nullptr;
  (void)bh_start(host.session, r, host.queue, 900, &run, nullptr);
  while (out.answer.last == 0) {
    bh_event* e = nullptr;
    if (bh_queue_next(host.queue, 60'000, &e, nullptr) != BH_OK || e == nullptr) break;
    if (bh_event_kind(e) == BH_EVENT_OUTPUT) {
      size_t n = 0;
      (void)bh_event_data(e, &n);
      out.bytes += static_cast<std::int64_t>(n);
    } else {
      Embedder::note(e, out.answer);
    }
    bh_event_free(e);
  }
  bh_run_free(run);
  bh_request_free(r);
  return out;
}

}  // namespace

TEST_CASE("files.put and .get: content, base64, attachment, input; ranges; collected") {
  Place place;
  Embedder host(with_store(place));
  REQUIRE(host.session != nullptr);
  Answer answer = host.call("files.put", R"({"path":"a/x.txt","content":"hello","media_type":"text/plain"})");
  INFO(answer.fault.message);
  REQUIRE(answer.last == BH_EVENT_RESULT);
  CHECK(member(answer.result, "path") == "a/x.txt");
  CHECK(number(answer.result, "size") == 5);
  CHECK_FALSE(member(answer.result, "etag").empty());

  CHECK(host.call("files.put", R"({"path":"b","content":{"base64":"/wA="}})").last == BH_EVENT_RESULT);
  CHECK(host.call("files.put", R"({"path":"c"})", nullptr, "from the input").last == BH_EVENT_RESULT);
  bh_request* r = Embedder::request("files.put", R"({"path":"d"})");
  REQUIRE(r != nullptr);
  REQUIRE(bh_request_attach(r, "file", 4, "image/png", 9, "pixels", 6, nullptr) == BH_OK);
  REQUIRE(bh_start(host.session, r, host.queue, 700, nullptr, nullptr) == BH_OK);
  bh_request_free(r);
  CHECK(host.finish(700).last == BH_EVENT_RESULT);
  CHECK(host.call("files.put", R"({"path":"empty","content":""})").last == BH_EVENT_RESULT);

  answer = host.call("files.get", R"({"path":"d","collect":true})");
  CHECK(member(answer.result, "media_type") == "image/png");
  auto got = json::parse_object(answer.result).value();
  CHECK(json::print(got["content"]) == R"({"text":"pixels","bytes":6,"missing":0})");
  got = json::parse_object(host.call("files.get", R"({"path":"b","collect":true})").result).value();
  CHECK(json::print(got["content"]) == R"({"base64":"/wA=","bytes":2,"missing":0})");

  struct Row {
    const char* args;
    std::int64_t sent;
  };
  for (const Row& row : {Row{R"({"path":"c"})", 14}, Row{R"({"path":"c","offset":5})", 9},
                         Row{R"({"path":"c","offset":5,"size":3})", 3},
                         Row{R"({"path":"c","size":0})", 0}, Row{R"({"path":"c","offset":14})", 0},
                         Row{R"({"path":"c","offset":99})", 0}, Row{R"({"path":"empty"})", 0}}) {
    INFO(row.args);
    Drained drained = drain(host, "files.get", row.args);
    REQUIRE(drained.answer.last == BH_EVENT_RESULT);
    CHECK(drained.bytes == row.sent);
    CHECK(number(drained.answer.result, "sent") == row.sent);
  }
  got = json::parse_object(host.call("files.stat", R"({"path":"a"})").result).value();
  CHECK(json::get_string(got, "kind") == "folder");
}

TEST_CASE("files.list: pages, folders, all at once; an area where nothing is") {
  Place place;
  Embedder host(with_store(place));
  Answer answer = host.call("files.list", "{}");
  CHECK(answer.result == R"({"count":0,"next":null})");
  for (const char* path : {"a/1", "a/2", "b", "c", "d/e/f"}) {
    CHECK(host.call("files.put", std::string(R"({"path":")") + path + R"(","content":"x"})").last ==
          BH_EVENT_RESULT);
  }
  CHECK(names_of(host.call("files.list", "{}")) == std::vector<std::string>{"a", "b", "c", "d"});
  CHECK(names_of(host.call("files.list", R"({"recursive":true})")) ==
        std::vector<std::string>{"a/1", "a/2", "b", "c", "d/e/f"});
  CHECK(names_of(host.call("files.list", R"({"path":"d","recursive":true})")) ==
        std::vector<std::string>{"d/e/f"});
  CHECK(host.call("files.list", R"({"path":"none"})").fault.has("file_not_found"));

  std::vector<std::string> all;
  std::string after;
  for (int page = 0; page < 5; page++) {
    answer = host.call("files.list", R"({"recursive":true,"limit":2,"after":")" + after + "\"}");
    REQUIRE(answer.last == BH_EVENT_RESULT);
    for (const std::string& name : names_of(answer)) all.push_back(name);
    after = member(answer.result, "next");
    if (after.empty()) break;
    CHECK(answer.items.size() == 2);
  }
  CHECK(all == std::vector<std::string>{"a/1", "a/2", "b", "c", "d/e/f"});

  CHECK(host.call("files.delete", R"({"path":"a"})").fault.code == BH_FAILED_PRECONDITION);
  CHECK(host.call("files.delete", R"({"path":"a","recursive":true})").last == BH_EVENT_RESULT);
  CHECK(host.call("files.delete", R"({"path":"a"})").fault.has("file_not_found"));
}

TEST_CASE("what is refused, by field and reason") {
  Place place;
  Embedder host(with_store(place));
  REQUIRE(host.call("files.put", R"({"path":"f/x","content":"1"})").last == BH_EVENT_RESULT);
  struct Row {
    const char* operation;
    const char* args;
    bh_status code;
    const char* word;
  };
  const Row rows[] = {
      {"files.put", R"({"path":"../b/x","content":"1"})", BH_INVALID_ARGUMENT, "path_invalid"},
      {"files.put", R"({"path":"/x","content":"1"})", BH_INVALID_ARGUMENT, "path_invalid"},
      {"files.put", R"({"path":"","content":"1"})", BH_INVALID_ARGUMENT, "path_invalid"},
      {"files.put", R"({"path":"a\u0000b","content":"1"})", BH_INVALID_ARGUMENT, "path_invalid"},
      {"files.put", R"({"path":"x","content":{"base64":"*"}})", BH_INVALID_ARGUMENT, "base64"},
      {"files.put", R"({"path":"x"})", BH_INVALID_ARGUMENT, "/content"},
      {"files.put", R"({"path":"x","content":1})", BH_INVALID_ARGUMENT, "/content"},
      {"files.get", R"({"path":"none"})", BH_NOT_FOUND, "file_not_found"},
      {"files.get", R"({"path":"f"})", BH_FAILED_PRECONDITION, "is_folder"},
      {"files.get", R"({"path":"f/./x"})", BH_INVALID_ARGUMENT, "path_invalid"},
      {"files.get", R"({"path":"f/x","offset":-1})", BH_INVALID_ARGUMENT, "/offset"},
      {"files.stat", R"({"path":"f/x/y"})", BH_NOT_FOUND, "file_not_found"},
      {"files.list", R"({"path":".."})", BH_INVALID_ARGUMENT, "path_invalid"},
      {"files.list", R"({"limit":0})", BH_INVALID_ARGUMENT, "/limit"},
      {"files.delete", R"({"path":"a/.."})", BH_INVALID_ARGUMENT, "path_invalid"},
      {"files.delete", R"({"path":"none"})", BH_NOT_FOUND, "file_not_found"},
  };
  for (const Row& row : rows) {
    INFO(row.operation << " " << row.args);
    Answer answer = host.call(row.operation, row.args);
    CHECK(answer.fault.code == row.code);
    CHECK((answer.fault.details + answer.fault.message).find(row.word) != std::string::npos);
    CHECK(answer.fault.details.find("field") != std::string::npos);
    // Where the files lie in the store is nobody's business.
    CHECK(answer.fault.message.find("default/") == std::string::npos);
  }
}

TEST_CASE("two personas cannot see, read, change or count each other's files; nor can the operator") {
  Place place;
  Embedder host(with_store(place));
  bh_session* a = host.open_session(R"({"persona":"a"})");
  bh_session* b = host.open_session(R"({"persona":"b"})");
  // The operator's session has the area of the persona "default", and no other's.
  bh_session* boss = host.open_session(R"({"operator":true})");
  REQUIRE(a != nullptr);
  REQUIRE(b != nullptr);
  REQUIRE(boss != nullptr);
  REQUIRE(host.call("files.put", R"({"path":"secret","content":"mine"})", a).last == BH_EVENT_RESULT);
  for (bh_session* other : {b, boss}) {
    for (const char* path : {"secret", "a/secret", "default/secret", "b/secret"}) {
      const std::string args = std::string(R"({"path":")") + path + "\"}";
      for (const char* operation : {"files.get", "files.stat", "files.delete"}) {
        INFO(operation << " " << path);
        Answer answer = host.call(operation, args, other);
        CHECK(answer.fault.code == BH_NOT_FOUND);
        CHECK(answer.fault.has("file_not_found"));
        // The same words as for what was never there.
        std::string message = answer.fault.message;
        message.replace(message.find(path), std::strlen(path), "never");
        CHECK(message == host.call(operation, R"({"path":"never"})", other).fault.message);
      }
    }
    CHECK(host.call("files.list", R"({"recursive":true})", other).items.empty());
    CHECK(host.call("files.put", R"({"path":"secret","content":"other"})", other).last ==
          BH_EVENT_RESULT);
  }
  // Theirs have five bytes.
  CHECK(number(host.call("files.stat", R"({"path":"secret"})", a).result, "size") == 4);
  bh_session_free(a);
  bh_session_free(b);
  bh_session_free(boss);
}

TEST_CASE("etags: a write in place of another version is refused, whatever the store calls it") {
  Place place;
  Embedder host(with_store(place));
  const std::string first =
      member(host.call("files.put", R"({"path":"x","content":"1","if_etag":"*"})").result, "etag");
  Answer answer = host.call("files.put", R"({"path":"x","content":"2","if_etag":"*"})");
  CHECK(answer.fault.code == BH_ALREADY_EXISTS);
  CHECK(answer.fault.has("file_exists"));
  CHECK(answer.fault.has("/if_etag"));
  CHECK(answer.fault.message.find("\"x\"") != std::string::npos);
  const std::string named = R"({"path":"x","content":"2","if_etag":")" + first + "\"}";
  CHECK(host.call("files.put", named).last == BH_EVENT_RESULT);
  answer = host.call("files.put", named);
  CHECK(answer.fault.code == BH_ABORTED);
  CHECK(answer.fault.has("etag_mismatch"));
  CHECK(member(host.call("files.stat", R"({"path":"x"})").result, "etag") != first);
}

TEST_CASE("a file that is replaced while it is read is not told as one version") {
  Place place;
  Embedder host(with_store(place, R"({"changes":true})"));
  REQUIRE(host.call("files.put", R"({"path":"x","content":"1"})").last == BH_EVENT_RESULT);
  Answer answer = host.call("files.get", R"({"path":"x"})");
  CHECK(answer.fault.code == BH_ABORTED);
  CHECK(answer.fault.has("file_changed"));
  CHECK(host.call("files.get", R"({"path":"x"})").last == BH_EVENT_RESULT);
}

TEST_CASE("files.max_bytes: each persona's own, for content and for streams") {
  Place place;
  Embedder host(with_store(place, "{}", R"(,"max_bytes":1000)"));
  bh_session* b = host.open_session(R"({"persona":"b"})");
  const std::string half(600, 'h');
  auto put = [&](const char* path, const std::string& text, bh_session* by = nullptr) {
    return host.call("files.put", std::string(R"({"path":")") + path + R"(","content":")" + text + "\"}", by);
  };
  CHECK(put("a", half).last == BH_EVENT_RESULT);
  Answer answer = put("b", half);
  CHECK(answer.fault.code == BH_RESOURCE_EXHAUSTED);
  CHECK(answer.fault.has("\"quota\""));
  CHECK(answer.fault.has("files.max_bytes"));
  CHECK(answer.fault.has("remedy"));
  CHECK(number(answer.fault.details, "limit") == 1000);
  CHECK(put("a", std::string(1000, 'n')).last == BH_EVENT_RESULT);  // in place of the old one
  CHECK(put("a", std::string(1001, 'n')).fault.has("quota"));
  CHECK(put("b", "x").fault.has("quota"));
  CHECK(put("b", half, b).last == BH_EVENT_RESULT);  // another's are not counted
  CHECK(host.call("files.put", R"({"path":"s"})", b, std::string(400, 's')).last == BH_EVENT_RESULT);
  answer = host.call("files.put", R"({"path":"t"})", b, "t");
  CHECK(answer.fault.code == BH_RESOURCE_EXHAUSTED);
  CHECK(answer.fault.has("files.max_bytes"));
  CHECK(host.call("files.stat", R"({"path":"t"})", b).fault.has("file_not_found"));
  CHECK(host.call("files.delete", R"({"path":"s"})", b).last == BH_EVENT_RESULT);
  CHECK(host.call("files.put", R"({"path":"t"})", b, "t").last == BH_EVENT_RESULT);
  bh_session_free(b);
}

TEST_CASE("writes at once never exceed the quota together") {
  Place place;
  Embedder host(with_store(place, "{}", R"(,"max_bytes":1000)"));
  constexpr int kWrites = 8;
  std::vector<bh_run*> runs;
  for (int i = 0; i < kWrites; i++) {
    bh_request* r = Embedder::request("files.put", R"({"path":"f)" + std::to_string(i) + "\"}");
    REQUIRE(r != nullptr);
    REQUIRE(bh_request_input(r, nullptr) == BH_OK);
    bh_run* run = nullptr;
    REQUIRE(bh_start(host.session, r, host.queue, 100 + static_cast<uint64_t>(i), &run, nullptr) == BH_OK);
    bh_request_free(r);
    runs.push_back(run);
  }
  // All have begun when the first may end.
  const std::string bytes(300, 'x');
  for (bh_run* run : runs) {
    size_t taken = 0;
    CHECK(bh_run_send(run, bytes.data(), bytes.size(), &taken, nullptr) == BH_OK);
  }
  for (bh_run* run : runs) (void)bh_run_send_end(run, nullptr);
  int good = 0;
  for (int ended = 0; ended < kWrites;) {
    bh_event* e = nullptr;
    REQUIRE(bh_queue_next(host.queue, 30'000, &e, nullptr) == BH_OK);
    REQUIRE(e != nullptr);
    ended += bh_event_kind(e) == BH_EVENT_RESULT || bh_event_kind(e) == BH_EVENT_FAULT;
    good += bh_event_kind(e) == BH_EVENT_RESULT;
    bh_event_free(e);
  }
  for (bh_run* run : runs) bh_run_free(run);
  CHECK(good == 3);
  CHECK(host.call("files.list", "{}").items.size() == 3);
}

TEST_CASE("a store that is not there, does not open, or breaks its word") {
  {
    Place place;  // the default one is not among the tests' plugins
    Embedder host(bh_test::config_at(place.path + "/d"));
    Answer answer = host.call("files.list", "{}");
    CHECK(answer.fault.code == BH_UNAVAILABLE);
    CHECK(answer.fault.has("store_unavailable"));
    CHECK(answer.fault.has("remedy"));
    CHECK(answer.fault.message.find("memory") != std::string::npos);
  }
  {
    Place place;
    Embedder host(bh_test::config_at(place.path + "/d", R"(,"files":{"store":"nfs"})"));
    CHECK(host.runtime == nullptr);
    CHECK(host.fault.code == BH_INVALID_ARGUMENT);
    CHECK(host.fault.has("/files/store"));
    CHECK(host.fault.message.find("memory") != std::string::npos);
  }
  {
    Place place;
    Embedder host(bh_test::config_at(place.path + "/d", R"(,"files":{"config":{"nfs":{}}})"));
    CHECK(host.fault.has("/files/config/nfs"));
  }
  {
    Place place;
    Embedder host(with_store(place, R"({"open_fails":true})"));
    Answer answer = host.call("files.get", R"({"path":"x"})");
    CHECK(answer.fault.code == BH_UNAVAILABLE);
    CHECK(answer.fault.has("store_unavailable"));
    CHECK(answer.fault.has("mend it"));
  }
  {
    Place place;
    Embedder host(with_store(place, R"({"color":"red"})"));
    Answer answer = host.call("files.get", R"({"path":"x"})");
    CHECK(answer.fault.code == BH_INVALID_ARGUMENT);
    CHECK(answer.fault.has("color"));
  }
  {
    Place place;
    Embedder host(with_store(place, R"({"no_etag":true})"));
    CHECK(host.call("files.put", R"({"path":"x","content":"1"})").fault.has("plugin_misuse"));
  }
}

TEST_CASE("what a store's configuration names as its folder is hidden from every sandbox") {
  Place place;
  const std::string folder = place.path + "/all-files";
  std::filesystem::create_directory(folder);
  Embedder host(bh_test::config_at(
      place.path + "/d", R"(,"isolation":{"backend":"boxes","config":{"boxes":{"report":"{\"rules\":[]}"}}},)"
                         R"("files":{"store":"memory","config":{"memory":{"root":")" + folder + "\"}}}"));
  REQUIRE(host.session != nullptr);
  Answer answer = host.call("sandbox.plan", "{}");
  INFO(answer.fault.message);
  auto plan = json::parse_object(answer.result).value();
  CHECK(json::print(plan["profile"]).find(json::quote(folder)) != std::string::npos);
  CHECK(host.call("sandbox.plan", R"({"workspace":)" + json::quote(folder) + "}").fault.has("workspace_refused"));
}

TEST_CASE("a gibibyte goes in and out without being held") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  BH_SKIP("a sanitizer holds what was freed; measured without one");
#endif
  Place place;
  Embedder host(with_store(place, "{}", R"(,"max_bytes":2000000000)"));
  constexpr std::int64_t kSize = std::int64_t{1} << 30;
  const std::int64_t before = resident_kib();
  Drained drained = drain(host, "files.get", R"({"path":"zeros-1073741824"})");
  REQUIRE(drained.answer.last == BH_EVENT_RESULT);
  CHECK(drained.bytes == kSize);
  bh_request* r = Embedder::request("files.put", R"({"path":"void"})");
  REQUIRE(r != nullptr);
  REQUIRE(bh_request_input(r, nullptr) == BH_OK);
  bh_run* run = nullptr;
  REQUIRE(bh_start(host.session, r, host.queue, 901, &run, nullptr) == BH_OK);
  bh_request_free(r);
  const std::string piece(1 << 20, 'p');
  std::int64_t sent = 0;
  while (sent < kSize) {
    size_t taken = 0;
    const size_t want = std::min<size_t>(piece.size(), static_cast<size_t>(kSize - sent));
    REQUIRE(bh_run_send(run, piece.data(), want, &taken, nullptr) == BH_OK);
    sent += static_cast<std::int64_t>(taken);
    if (taken == want) continue;
    bh_event* e = nullptr;
    REQUIRE(bh_queue_next(host.queue, 30'000, &e, nullptr) == BH_OK);
    REQUIRE(e != nullptr);
    CHECK(bh_event_kind(e) == BH_EVENT_ROOM);
    bh_event_free(e);
  }
  REQUIRE(bh_run_send_end(run, nullptr) == BH_OK);
  Answer answer = host.finish(901);
  bh_run_free(run);
  REQUIRE(answer.last == BH_EVENT_RESULT);
  CHECK(number(answer.result, "size") == kSize);
  CHECK(resident_kib() - before < 64 * 1024);
}
