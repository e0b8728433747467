#include "core/pipe.h"

#include <atomic>

#include "as_plugin.h"
#include "core/drive.h"
#include "engine_host.h"
#include "support/catch.h"

using namespace bh_test;

namespace {

constexpr std::size_t kLarge = 9u << 20;  // many times what a pipe holds

char at(std::size_t i) { return static_cast<char>(i * 7 + i / 251); }

// A plugin that emits `total` bytes in pieces of `piece`.
bh::Result<void> produce(Call& up, bh::Sink& sink, std::size_t total, std::size_t piece,
                         std::atomic<std::size_t>* sent = nullptr) {
  bh::NoInput none;
  auto done = bh::drive(up, nullptr, "producer", sink, none, [&](bh_call* c) -> bh_status {
    std::string bytes;
    for (std::size_t from = 0; from < total; from += bytes.size()) {
      bytes.resize(std::min(piece, total - from));
      for (std::size_t i = 0; i < bytes.size(); i++) bytes[i] = at(from + i);
      bh_status st = c->api->emit(c, BH_STREAM_DATA, bytes.data(), bytes.size());
      if (st != BH_OK) return st;
      if (sent != nullptr) *sent += bytes.size();
    }
    return BH_OK;
  });
  if (!done) return tl::unexpected(std::move(done).error());
  return {};
}

struct Taken {
  std::size_t bytes = 0;
  bool right = true;
  bool ended = false;
};

// A plugin that receives until the end, or until it has `most`.
bh::Result<void> consume(Call& up, bh::Input& input, Taken& taken, std::size_t piece,
                         std::size_t most = SIZE_MAX) {
  bh::NullSink nowhere;
  auto done = bh::drive(up, nullptr, "consumer", nowhere, input, [&](bh_call* c) -> bh_status {
    std::string buffer(piece, '\0');
    while (taken.bytes < most) {
      std::size_t got = 0;
      if (bh_status st = c->api->receive(c, buffer.data(), buffer.size(), &got)) return st;
      if (got == 0) {
        taken.ended = true;
        return BH_OK;
      }
      for (std::size_t i = 0; i < got; i++) {
        taken.right = taken.right && buffer[i] == at(taken.bytes + i);
      }
      taken.bytes += got;
    }
    return BH_OK;
  });
  if (!done) return tl::unexpected(std::move(done).error());
  return {};
}

}  // namespace

TEST_CASE("what one plugin emits another receives, whatever the pieces") {
  struct Row {
    std::size_t total, out, in;
  };
  for (const Row& row : {Row{0, 1, 1}, Row{1, 1, 10}, Row{kLarge, 1u << 20, 999},
                         Row{kLarge, 1000, 1u << 20}, Row{bh::Pipe::kHeld, 65536, 65536}}) {
    INFO(row.total << " by " << row.out << " and " << row.in);
    EngineHost host;
    Taken taken;
    host.add("t.move", [&](Call& call) {
      return bh::pipe_through(
          call, [&](bh::Sink& sink) { return produce(call, sink, row.total, row.out); },
          [&](bh::Input& input) { return consume(call, input, taken, row.in); });
    });
    CHECK(host.run("t.move").last == BH_EVENT_RESULT);
    CHECK(taken.bytes == row.total);
    CHECK(taken.right);
    CHECK(taken.ended);
  }
}

TEST_CASE("a reader that fails midway gives no end: who writes must not keep half a file") {
  EngineHost host;
  Taken taken;
  host.add("t.move", [&](Call& call) {
    return bh::pipe_through(
        call,
        [&](bh::Sink& sink) -> bh::Result<void> {
          if (auto st = produce(call, sink, 5000, 1000); !st) return st;
          return bh::fail(BH_DATA_LOSS, "the disk is gone", "gone");
        },
        [&](bh::Input& input) { return consume(call, input, taken, 100); });
  });
  Outcome out = host.run("t.move");
  CHECK(out.fault.code == BH_DATA_LOSS);
  CHECK(out.reason() == "gone");
  CHECK_FALSE(taken.ended);
}

TEST_CASE("a writer that fails stops the reader, and its error is the one told") {
  EngineHost host;
  std::atomic<std::size_t> sent{0};
  host.add("t.move", [&](Call& call) {
    return bh::pipe_through(
        call,
        [&](bh::Sink& sink) { return produce(call, sink, SIZE_MAX / 2, 1u << 16, &sent); },
        [&](bh::Input& input) -> bh::Result<void> {
          Taken taken;
          if (auto st = consume(call, input, taken, 1000, 10'000); !st) return st;
          return bh::fail(BH_RESOURCE_EXHAUSTED, "full", "disk_full");
        });
  });
  Outcome out = host.run("t.move");
  CHECK(out.fault.code == BH_RESOURCE_EXHAUSTED);
  CHECK(out.reason() == "disk_full");
  CHECK(sent <= 10'000 + bh::Pipe::kHeld + (1u << 16));
}

TEST_CASE("a writer that is content too early is a fault of its plugin") {
  EngineHost host;
  host.add("t.move", [&](Call& call) {
    return bh::pipe_through(
        call, [&](bh::Sink& sink) { return produce(call, sink, kLarge, 1u << 16); },
        [&](bh::Input& input) {
          Taken taken;
          return consume(call, input, taken, 1000, 1000);
        });
  });
  CHECK(host.run("t.move").reason() == "plugin_misuse");
}

TEST_CASE("a pipe that nobody empties ends with its run") {
  EngineHost host;
  host.add("t.move", [&](Call& call) {
    return bh::pipe_through(
        call, [&](bh::Sink& sink) { return produce(call, sink, kLarge, 1u << 16); },
        [&](bh::Input&) -> bh::Result<void> {
          if (bh_status st = call.wait(bh::kNoLimit)) return tl::unexpected(bh::stop_error(st));
          return {};
        });
  });
  CHECK(host.run("t.move", host.options(1, 200)).fault.code == BH_DEADLINE_EXCEEDED);
  // And one that nobody fills.
  host.add("t.dry", [&](Call& call) {
    return bh::pipe_through(
        call,
        [&](bh::Sink&) -> bh::Result<void> {
          if (bh_status st = call.wait(bh::kNoLimit)) return tl::unexpected(bh::stop_error(st));
          return {};
        },
        [&](bh::Input& input) {
          Taken taken;
          return consume(call, input, taken, 1000);
        });
  });
  CHECK(host.run("t.dry", host.options(2, 200)).fault.code == BH_DEADLINE_EXCEEDED);
}
