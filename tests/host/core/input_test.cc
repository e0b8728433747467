#include <atomic>
#include <thread>

#include "as_plugin.h"
#include "core/run.h"
#include "engine_host.h"
#include "support/catch.h"

using namespace bh_test;

namespace {

bh::RunOptions with_input(const EngineHost& host) {
  auto options = host.options();
  options.takes_input = true;
  return options;
}

// Reads all that comes and gives its size and a sum as the result.
bh::Result<void> read_all(Call& call) {
  return as_plugin(call, [](bh_call* c) -> bh_status {
    std::string buffer(10'000, '\0');
    std::size_t total = 0, sum = 0, got = 0;
    for (;;) {
      bh_status st = c->api->receive(c, buffer.data(), buffer.size(), &got);
      if (st != BH_OK) return st;
      if (got == 0) break;
      total += got;
      for (std::size_t i = 0; i < got; i++) sum = sum * 31 + static_cast<unsigned char>(buffer[i]);
    }
    return say_result(c, std::to_string(total) + std::string());
  });
}

}  // namespace

TEST_CASE("a run that announced no input has one that is at its end, and takes none") {
  EngineHost host;
  host.add("t.read", read_all);
  Gate go;
  host.add("t.wait", [&](Call&) -> bh::Result<void> {
    go.wait();
    return {};
  });
  CHECK(host.run("t.read").result == "0");
  auto run = host.start("t.wait");
  REQUIRE(run);
  auto sent = run->send("x");
  REQUIRE_FALSE(sent);
  CHECK(sent.error().code == BH_FAILED_PRECONDITION);
  CHECK(sent.error().details.find("no_input") != std::string::npos);
  CHECK_FALSE(run->send_end());
  go.open();
  CHECK(host.finish().last == BH_EVENT_RESULT);
}

TEST_CASE("a mebibyte is taken ahead of the reader; ROOM says when more would be") {
  EngineHost host;
  Gate go;
  host.add("t.read", [&](Call& call) {
    go.wait();
    return read_all(call);
  });
  auto run = host.start("t.read", with_input(host));
  REQUIRE(run);
  std::string large((1u << 20) + 500, 'x');
  auto taken = run->send(large);
  REQUIRE(taken);
  CHECK(*taken == bh::kRoom);
  taken = run->send("more");
  REQUIRE(taken);
  CHECK(*taken == 0);
  CHECK_FALSE(host.queue->next(0));
  go.open();
  auto event = host.queue->next(kPatience);
  REQUIRE(event);
  CHECK(event->kind == BH_EVENT_ROOM);
  CHECK(event->tag == 1);
  taken = run->send(std::string_view(large).substr(0, 500));
  REQUIRE(taken);
  CHECK(*taken == 500);
  REQUIRE(run->send_end());
  CHECK(host.finish().result == std::to_string(bh::kRoom + 500));
}

TEST_CASE("after its end, or with nobody to read, input is out of range") {
  EngineHost host;
  Gate go, ended;
  host.add("t.stops", [&](Call& call) -> bh::Result<void> {
    static_cast<bh_call&>(call).api->end_input(&call);
    ended.open();
    go.wait();
    return {};
  });
  host.add("t.read", read_all);
  auto run = host.start("t.stops", with_input(host));
  REQUIRE(run);
  REQUIRE(ended.wait());
  auto sent = run->send("x");
  REQUIRE_FALSE(sent);
  CHECK(sent.error().code == BH_OUT_OF_RANGE);
  CHECK(sent.error().details.find("input_ended") != std::string::npos);
  go.open();
  CHECK(host.finish().last == BH_EVENT_RESULT);
  CHECK(run->send("x").error().code == BH_OUT_OF_RANGE);

  run = host.start("t.read", with_input(host));
  REQUIRE(run);
  REQUIRE(run->send_end());
  CHECK(run->send("x").error().code == BH_OUT_OF_RANGE);
  CHECK(run->send_end());
  CHECK(host.finish().result == "0");
  CHECK(run->send("x").error().code == BH_OUT_OF_RANGE);
}

TEST_CASE("a sender that waits for room hears of a reader that stops") {
  EngineHost host;
  Gate full, go;
  host.add("t.stops", [&](Call& call) -> bh::Result<void> {
    full.wait();
    call.input().end();
    go.wait();
    return {};
  });
  auto run = host.start("t.stops", with_input(host));
  REQUIRE(run);
  std::string large(2u << 20, 'x');
  REQUIRE(run->send(large).value() == bh::kRoom);
  full.open();
  auto event = host.queue->next(kPatience);
  REQUIRE(event);
  CHECK(event->kind == BH_EVENT_ROOM);
  CHECK(run->send("x").error().code == BH_OUT_OF_RANGE);
  go.open();
  CHECK(host.finish().last == BH_EVENT_RESULT);
}

TEST_CASE("a sender that waits for room hears of a run that ends") {
  EngineHost host;
  Gate full;
  host.add("t.leaves", [&](Call&) -> bh::Result<void> {
    full.wait();
    return {};
  });
  auto run = host.start("t.leaves", with_input(host));
  REQUIRE(run);
  REQUIRE(run->send(std::string(2u << 20, 'x')).value() == bh::kRoom);
  full.open();
  auto out = host.finish();
  CHECK(out.last == BH_EVENT_RESULT);
  CHECK(out.rooms == 1);
  CHECK(run->send("x").error().code == BH_OUT_OF_RANGE);
}

TEST_CASE("receive_fd is readable when receive would not wait") {
  EngineHost host;
  Gate looked, look_again, drained, last;
  std::atomic<int> empty{-1}, filled{-1}, after{-1}, ended{-1};
  host.add("t.fd", [&](Call& call) {
    return as_plugin(call, [&](bh_call* c) -> bh_status {
      int fd = c->api->receive_fd(c);
      empty = readable(fd);
      looked.open();
      filled = readable(fd, kPatience);
      char buffer[8];
      std::size_t got = 0;
      if (bh_status st = c->api->receive(c, buffer, sizeof buffer, &got)) return st;
      after = readable(fd);
      drained.open();
      ended = readable(fd, kPatience);
      if (bh_status st = c->api->receive(c, buffer, sizeof buffer, &got)) return st;
      return say_result(c, std::to_string(got));
    });
  });
  auto run = host.start("t.fd", with_input(host));
  REQUIRE(run);
  REQUIRE(looked.wait());
  REQUIRE(run->send("abc"));
  REQUIRE(drained.wait());
  REQUIRE(run->send_end());
  CHECK(host.finish().result == "0");
  CHECK(empty.load() == 0);
  CHECK(filled.load() == 1);
  CHECK(after.load() == 0);
  CHECK(ended.load() == 1);
}

TEST_CASE("cancel and deadline end a reader that waits") {
  EngineHost host;
  host.add("t.read", read_all);
  auto run = host.start("t.read", with_input(host));
  REQUIRE(run);
  run->cancel();
  CHECK(host.finish().fault.code == BH_CANCELLED);
  auto options = with_input(host);
  options.timeout_ns = 50'000'000;
  REQUIRE(host.start("t.read", options));
  CHECK(host.finish().fault.code == BH_DEADLINE_EXCEEDED);
}

TEST_CASE("both directions at once carry much more than their rooms") {
  EngineHost host;
  host.add("t.upper", [](Call& call) {
    return as_plugin(call, [](bh_call* c) -> bh_status {
      std::string buffer(64 * 1024, '\0');
      std::size_t got = 0;
      for (;;) {
        if (bh_status st = c->api->receive(c, buffer.data(), buffer.size(), &got)) return st;
        if (got == 0) return say_result(c, "true");
        if (bh_status st = c->api->emit(c, 1, buffer.data(), got)) return st;
      }
    });
  });
  auto run = host.start("t.upper", with_input(host));
  REQUIRE(run);
  constexpr std::size_t kAll = 32u << 20;
  std::string piece(256 * 1024, 'q');
  std::size_t sent = 0, back = 0;
  bool ended = false;
  Outcome out;
  while (out.last == 0) {
    while (sent < kAll) {
      std::size_t want = std::min(piece.size(), kAll - sent);
      std::size_t taken = run->send(std::string_view(piece).substr(0, want)).value();
      sent += taken;
      if (taken < want) break;
    }
    if (sent == kAll && !ended) {
      ended = true;
      REQUIRE(run->send_end());
    }
    auto event = host.queue->next(kPatience);
    REQUIRE(event);
    if (event->kind == BH_EVENT_OUTPUT) {
      back += event->data.size();
    } else {
      EngineHost::note(*event, out);
    }
  }
  CHECK(out.result == "true");
  CHECK(back == kAll);
}
