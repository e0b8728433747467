// Handles, threads, forks, ends.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <set>
#include <thread>

#include "support/catch.h"
#include "support/embedder.h"

using bh_test::Answer;
using bh_test::Embedder;
using bh_test::Fault;
using bh_test::Place;

namespace {

constexpr const char kTool[] =
    R"({"tool":{"name":"mine","description":"The embedder's.","input_schema":{"type":"object","properties":{"n":{"type":"integer"}}}}})";
constexpr const char kCallMine[] = R"({"name":"mine","arguments":{"n":1}})";
constexpr const char kAnswer[] = R"({"content":[{"type":"text","text":"answered"}]})";

bh_server* serve(Embedder& host, bh_queue* q, const char* what = kTool) {
  bh_server* v = nullptr;
  (void)bh_serve(host.session, what, std::string(what).size(), q, 77, &v, nullptr);
  return v;
}
bh_queue* new_queue(Embedder& host) {
  bh_queue* q = nullptr;
  (void)bh_queue_new(host.runtime, &q, nullptr);
  return q;
}
// The next question, its event freed.
bh_ask* next_ask(bh_queue* q) {
  bh_event* e = nullptr;
  (void)bh_queue_next(q, 20'000, &e, nullptr);
  bh_ask* ask = bh_event_ask(e);
  if (ask != nullptr && bh_event_ask(e) != nullptr) ask = nullptr;  // given once
  bh_event_free(e);
  return ask;
}
std::size_t high_water_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stoul(line.substr(6));
  }
  return 0;
}

}  // namespace

TEST_CASE("handles are freed in any order, also before what hangs on them") {
  Place place;
  for (int order = 0; order < 6; order++) {
    Embedder host(bh_test::config_at(place.path + "/d"));
    bh_request* r = Embedder::request("tool.call", R"({"name":"upper"})");
    REQUIRE(r != nullptr);
    REQUIRE(bh_request_input(r, nullptr) == BH_OK);
    bh_run* run = nullptr;
    REQUIRE(bh_start(host.session, r, host.queue, 1, &run, nullptr) == BH_OK);
    bh_server* v = serve(host, host.queue);
    REQUIRE(v != nullptr);
    auto free_one = [&](int which) {
      switch (which % 6) {
        case 0: bh_runtime_free(host.runtime); host.runtime = nullptr; break;
        case 1: bh_session_free(host.session); host.session = nullptr; break;
        case 2: bh_queue_free(host.queue); host.queue = nullptr; break;
        case 3: bh_request_free(r); break;
        case 4: bh_run_free(run); break;
        default: bh_server_free(v); break;
      }
    };
    for (int i = 0; i < 6; i++) free_one(order + i * 5);
  }
}

TEST_CASE("an event outlives its queue, run and runtime") {
  Place place;
  bh_event* e = nullptr;
  {
    Embedder host(bh_test::config_at(place.path + "/d"));
    bh_request* r = Embedder::request("operation.list", "{}");
    REQUIRE(bh_do(host.session, r, host.queue, 1, nullptr) == BH_OK);
    bh_request_free(r);
    REQUIRE(bh_queue_next(host.queue, 0, &e, nullptr) == BH_OK);
  }
  REQUIRE(e != nullptr);
  size_t n = 0;
  CHECK(bh_event_data(e, &n) != nullptr);
  CHECK(n > 10);
  bh_event_free(e);
}

TEST_CASE("eight threads use one runtime, with sessions and queues of their own") {
  Place place;
  Embedder host(bh_test::config_at(place.path + "/d"));
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; t++) {
    threads.emplace_back([&, t] {
      bh_session* s = host.open_session(R"({"persona":"p)" + std::to_string(t) + "\"}");
      bh_queue* q = new_queue(host);
      bh_request* r = Embedder::request("tool.call", R"({"name":"say","arguments":{"text":"x"}})");
      for (int i = 0; i < 25; i++) {
        bh_run* run = nullptr;
        if (bh_start(s, r, q, 1, &run, nullptr) != BH_OK) continue;
        bh_event* e = nullptr;
        if (bh_queue_next(q, 20'000, &e, nullptr) == BH_OK && bh_event_kind(e) == BH_EVENT_RESULT) {
          good++;
        }
        bh_event_free(e);
        bh_run_free(run);
      }
      bh_request_free(r);
      bh_queue_free(q);
      bh_session_free(s);
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(good.load() == 200);
}

TEST_CASE("200 runs go on at once, and end when the runtime is closed") {
  Place place;
  Embedder host(bh_test::config_at(place.path + "/d"));
  bh_request* r = Embedder::request("tool.call", R"({"name":"upper"})");
  REQUIRE(bh_request_input(r, nullptr) == BH_OK);
  std::vector<bh_run*> runs(200);
  for (size_t i = 0; i < runs.size(); i++) {
    REQUIRE(bh_start(host.session, r, host.queue, i, &runs[i], nullptr) == BH_OK);
    size_t taken = 0;
    REQUIRE(bh_run_send(runs[i], "ping", 4, &taken, nullptr) == BH_OK);
  }
  std::set<uint64_t> heard;
  while (heard.size() < runs.size()) {
    bh_event* e = nullptr;
    REQUIRE(bh_queue_next(host.queue, 30'000, &e, nullptr) == BH_OK);
    REQUIRE(e != nullptr);
    CHECK(bh_event_kind(e) == BH_EVENT_OUTPUT);
    heard.insert(bh_event_tag(e));
    bh_event_free(e);
  }
  CHECK(bh_runtime_close(host.runtime, 20'000, nullptr) == BH_OK);
  for (size_t i = 0; i < runs.size(); i++) {
    bh_event* e = nullptr;
    REQUIRE(bh_queue_next(host.queue, 0, &e, nullptr) == BH_OK);
    REQUIRE(bh_event_kind(e) == BH_EVENT_FAULT);
    CHECK(bh_fault_code(bh_event_fault(e)) == BH_CANCELLED);
    bh_event_free(e);
  }
  bh_fault* f = nullptr;
  CHECK(bh_start(host.session, r, host.queue, 1, nullptr, &f) == BH_FAILED_PRECONDITION);
  CHECK(bh_test::take(f).has("closed"));
  CHECK(bh_do(host.session, r, host.queue, 1, nullptr) == BH_FAILED_PRECONDITION);
  for (bh_run* run : runs) bh_run_free(run);
  bh_request_free(r);
}

TEST_CASE("a queue that is freed cancels what reports to it") {
  Place place;
  Embedder host(bh_test::config_at(place.path + "/d"));
  bh_queue* q = new_queue(host);
  bh_request* r = Embedder::request("log.follow", "{}");
  for (int i = 0; i < 10; i++) REQUIRE(bh_start(host.session, r, q, 1, nullptr, nullptr) == BH_OK);
  bh_request_free(r);
  bh_queue_free(q);
  // Nothing is left that close would have to stop: it has no time to.
  Answer answer = host.call("host.inspect", "{}");
  CHECK(answer.last == BH_EVENT_RESULT);
  CHECK(bh_runtime_close(host.runtime, 20'000, nullptr) == BH_OK);
}

TEST_CASE("two runtimes in one process do not mix") {
  Place place;
  Embedder one(bh_test::config_at(place.path + "/a"));
  Embedder two(bh_test::config_at(place.path + "/b"));
  bh_request* r = Embedder::request("host.inspect", "{}");
  bh_fault* f = nullptr;
  CHECK(bh_start(one.session, r, two.queue, 1, nullptr, &f) == BH_INVALID_ARGUMENT);
  CHECK(bh_test::take(f).has("two_runtimes"));
  bh_request_free(r);
  CHECK(one.call("tool.list", "{}").items.size() == 7);
  CHECK(two.call("tool.list", "{}").items.size() == 7);
  CHECK(bh_runtime_close(one.runtime, 10'000, nullptr) == BH_OK);
  CHECK(two.call("tool.call", R"({"name":"say","arguments":{"text":"x"}})").last == BH_EVENT_RESULT);
}

TEST_CASE("after a fork every function refuses in the child, and frees only forget") {
  Place place;
  Embedder host(bh_test::config_at(place.path + "/d"));
  bh_queue* asks = new_queue(host);
  bh_server* v = serve(host, asks);
  bh_request* r = Embedder::request("tool.call", R"({"name":"upper"})");
  REQUIRE(bh_request_input(r, nullptr) == BH_OK);
  bh_run* run = nullptr;
  REQUIRE(bh_start(host.session, r, host.queue, 1, &run, nullptr) == BH_OK);
  bh_request* mine = Embedder::request("tool.call", kCallMine);
  REQUIRE(bh_start(host.session, mine, host.queue, 2, nullptr, nullptr) == BH_OK);
  bh_ask* ask = next_ask(asks);
  REQUIRE(ask != nullptr);
  pid_t child = ::fork();
  if (child == 0) {
    bh_session* s = nullptr;
    bh_queue* q = nullptr;
    bh_event* e = nullptr;
    bh_server* served = nullptr;
    size_t n = 0;
    int which = 0;
    bh_fault* f = nullptr;
    auto refuses = [&](bh_status st) {
      which++;
      if (st != BH_FAILED_PRECONDITION || !bh_test::take(f).has("forked")) ::_exit(which);
    };
    refuses(bh_runtime_close(host.runtime, 100, &f));
    refuses(bh_session_new(host.runtime, "{}", 2, &s, &f));
    refuses(bh_queue_new(host.runtime, &q, &f));
    refuses(bh_queue_next(host.queue, 100, &e, &f));
    refuses(bh_request_args(r, "{}", 2, &f));
    refuses(bh_request_attach(r, "a", 1, "", 0, "x", 1, &f));
    refuses(bh_request_timeout(r, 1, &f));
    refuses(bh_request_input(r, &f));
    refuses(bh_start(host.session, r, host.queue, 1, nullptr, &f));
    refuses(bh_do(host.session, mine, host.queue, 1, &f));
    refuses(bh_run_send(run, "x", 1, &n, &f));
    refuses(bh_run_send_end(run, &f));
    refuses(bh_serve(host.session, kTool, sizeof kTool - 1, host.queue, 1, &served, &f));
    refuses(bh_ask_emit(ask, 1, "x", 1, &n, &f));
    refuses(bh_ask_attach(ask, "a", 1, "", 0, "x", 1, &f));
    refuses(bh_ask_result(ask, "1", 1, &f));
    refuses(bh_ask_fail(ask, 1, "x", 1, "", 0, &f));
    refuses(bh_ask_session(ask, &s, &f));
    if (bh_queue_fd(host.queue) != -1) ::_exit(100);
    bh_queue_wake(host.queue);
    bh_run_cancel(run);
    bh_ask_free(ask);
    bh_server_free(v);
    bh_run_free(run);
    bh_request_free(r);
    bh_queue_free(host.queue);
    bh_session_free(host.session);
    bh_runtime_free(host.runtime);
    // One of its own works there.
    Embedder* own = new Embedder(bh_test::config_at(place.path + "/child"));
    if (own->call("host.inspect", "{}").last != BH_EVENT_RESULT) ::_exit(101);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  // The parent's go on.
  REQUIRE(bh_ask_result(ask, kAnswer, sizeof kAnswer - 1, nullptr) == BH_OK);
  CHECK(host.finish(2).last == BH_EVENT_RESULT);
  bh_ask_free(ask);
  bh_run_free(run);
  bh_server_free(v);
  bh_request_free(r);
  bh_request_free(mine);
  bh_queue_free(asks);
}

TEST_CASE("the embedder's own tool: listed, called, answered, failed, withdrawn") {
  Place place;
  Embedder host(bh_test::config_at(place.path + "/d"));
  bh_queue* asks = new_queue(host);
  bh_server* v = serve(host, asks);
  REQUIRE(v != nullptr);
  CHECK(host.call("tool.list", "{}").items.size() == 8);
  bh_session* other = host.open_session(R"({"persona":"other"})");
  CHECK(host.call("tool.list", "{}", other).items.size() == 7);
  CHECK(host.call("tool.call", kCallMine, other).fault.has("unknown_tool"));
  CHECK(host.call("tool.call", R"({"name":"mine","arguments":{"n":"x"}})").fault.code == BH_INVALID_ARGUMENT);
  bh_request* r = Embedder::request("tool.call", kCallMine);
  auto start = [&](uint64_t tag) { return bh_start(host.session, r, host.queue, tag, nullptr, nullptr); };

  REQUIRE(start(1) == BH_OK);
  bh_ask* ask = next_ask(asks);
  REQUIRE(ask != nullptr);
  size_t taken = 0;
  CHECK(bh_ask_emit(ask, 1, nullptr, 5, &taken, nullptr) == BH_INVALID_ARGUMENT);
  CHECK(bh_ask_emit(ask, 1, "out", 3, &taken, nullptr) == BH_OK);
  CHECK(taken == 3);
  CHECK(bh_ask_result(ask, "{nope", 5, nullptr) == BH_INVALID_ARGUMENT);
  CHECK(bh_ask_result(ask, kAnswer, sizeof kAnswer - 1, nullptr) == BH_OK);
  CHECK(bh_ask_result(ask, kAnswer, sizeof kAnswer - 1, nullptr) == BH_OUT_OF_RANGE);
  bh_ask_free(ask);
  Answer answer = host.finish(1);
  CHECK(answer.result == kAnswer);
  CHECK(answer.out == "out");

  REQUIRE(start(2) == BH_OK);
  ask = next_ask(asks);
  CHECK(bh_ask_fail(ask, 99, "odd\xff", 4, "no JSON", 7, nullptr) == BH_OK);
  bh_ask_free(ask);
  answer = host.finish(2);
  CHECK(answer.fault.code == BH_UNKNOWN);
  CHECK(answer.fault.message == "odd\xEF\xBF\xBD");

  REQUIRE(start(3) == BH_OK);
  bh_ask_free(next_ask(asks));
  CHECK(host.finish(3).fault.has("unanswered"));

  // What it answers is held against the result's schema as any tool's.
  REQUIRE(start(4) == BH_OK);
  ask = next_ask(asks);
  CHECK(bh_ask_result(ask, "{}", 2, nullptr) == BH_OK);
  bh_ask_free(ask);
  CHECK(host.finish(4).fault.has("plugin_misuse"));

  // It calls back with the asker's rights.
  REQUIRE(start(5) == BH_OK);
  ask = next_ask(asks);
  bh_session* lent = nullptr;
  REQUIRE(bh_ask_session(ask, &lent, nullptr) == BH_OK);
  CHECK(host.call("host.inspect", "{}", lent).result.find("\"persona\":\"default\"") != std::string::npos);
  bh_server* late = nullptr;
  bh_fault* f = nullptr;
  CHECK(bh_serve(lent, kTool, sizeof kTool - 1, asks, 1, &late, &f) == BH_PERMISSION_DENIED);
  CHECK(bh_test::take(f).has("lent_session"));
  REQUIRE(bh_ask_result(ask, kAnswer, sizeof kAnswer - 1, nullptr) == BH_OK);
  bh_ask_free(ask);
  CHECK(host.finish(5).last == BH_EVENT_RESULT);
  CHECK(host.call("host.inspect", "{}", lent).fault.has("ask_ended"));
  bh_session_free(lent);

  // bh_do with the very queue that would have to be read: fails at once.
  REQUIRE(bh_do(host.session, r, asks, 6, nullptr) == BH_OK);
  bh_event* e = nullptr;
  REQUIRE(bh_queue_next(asks, 0, &e, nullptr) == BH_OK);
  REQUIRE(bh_event_kind(e) == BH_EVENT_FAULT);
  CHECK(std::string(bh_fault_details(bh_event_fault(e), nullptr)).find("would_deadlock") !=
        std::string::npos);
  bh_event_free(e);

  REQUIRE(start(7) == BH_OK);
  ask = next_ask(asks);
  bh_server_free(v);
  CHECK(host.finish(7).fault.has("unanswered"));
  bh_ask_free(ask);
  CHECK(host.call("tool.list", "{}").items.size() == 7);
  bh_request_free(r);
  bh_session_free(other);
  bh_queue_free(asks);
}

TEST_CASE("256 MiB pass through a tool both ways in bounded memory") {
  Place place;
  Embedder host(bh_test::config_at(place.path + "/d"));
  CHECK(host.call("tool.list", "{}").items.size() == 7);
  bh_request* r = Embedder::request("tool.call", R"({"name":"upper"})");
  REQUIRE(bh_request_input(r, nullptr) == BH_OK);
  bh_run* run = nullptr;
  REQUIRE(bh_start(host.session, r, host.queue, 1, &run, nullptr) == BH_OK);
  constexpr size_t kAll = size_t{256} << 20;
  const std::string piece(256 * 1024, 'q');
  const std::size_t before = high_water_kb();
  size_t sent = 0, back = 0;
  bool ended = false, result = false;
  while (!result) {
    while (sent < kAll) {
      size_t taken = 0;
      const size_t want = std::min(piece.size(), kAll - sent);
      REQUIRE(bh_run_send(run, piece.data(), want, &taken, nullptr) == BH_OK);
      sent += taken;
      if (taken < want) break;
    }
    if (sent == kAll && !ended) {
      ended = true;
      REQUIRE(bh_run_send_end(run, nullptr) == BH_OK);
    }
    bh_event* e = nullptr;
    REQUIRE(bh_queue_next(host.queue, 60'000, &e, nullptr) == BH_OK);
    REQUIRE(e != nullptr);
    size_t n = 0;
    (void)bh_event_data(e, &n);
    if (bh_event_kind(e) == BH_EVENT_OUTPUT) back += n;
    result = bh_event_kind(e) == BH_EVENT_RESULT;
    REQUIRE(bh_event_kind(e) != BH_EVENT_FAULT);
    bh_event_free(e);
  }
  CHECK(back == kAll);
#if defined(__SANITIZE_ADDRESS__)
  const std::size_t freed_but_kept_kb = 256 * 1024;  // AddressSanitizer's quarantine
#else
  const std::size_t freed_but_kept_kb = 0;
#endif
  CHECK(high_water_kb() - before < freed_but_kept_kb + 64 * 1024);
  bh_run_free(run);
  bh_request_free(r);
}
