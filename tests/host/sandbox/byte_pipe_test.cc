#include "sandbox/byte_pipe.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "../core/engine_host.h"
#include "support/catch.h"

using namespace bh_test;

namespace {

// A driver's function that emits `total` bytes.
bh::Result<void> produce(Call& up, bh::Sink& to, std::size_t total, std::atomic<std::size_t>& sent) {
  bh::NoInput none;
  Call call(up, to, none);
  std::string chunk(40'000, 'x');
  while (sent < total) {
    bh_status st = call.emit(BH_STREAM_DATA, std::string_view(chunk).substr(0, total - sent));
    if (st != BH_OK) return bh::fail(st, "the writer was stopped", "system");
    sent += std::min(chunk.size(), total - sent.load());
  }
  return {};
}

// One that receives up to `most` bytes, then wants no more.
bh::Result<std::size_t> consume(Call& up, bh::Input& from, std::size_t most = SIZE_MAX) {
  bh::NullSink nowhere;
  Call call(up, nowhere, from);
  std::string buffer(30'000, '\0');
  std::size_t total = 0;
  while (total < most) {
    std::size_t got = 0;
    bh_status st = call.input().receive(call, buffer.data(), buffer.size(), &got);
    if (st != BH_OK) return bh::fail(st, "the reader was stopped", "system");
    if (got == 0) break;
    total += got;
  }
  return total;
}

}  // namespace

TEST_CASE("bytes go from one function to the other, whole and in bounded memory") {
  EngineHost host;
  std::atomic<std::size_t> sent{0};
  std::size_t ahead = 0;
  host.add("t.pipe", [&](Call& up) -> bh::Result<void> {
    std::size_t total = 0;
    auto done = bh::pipe_bytes(
        up, [&](bh::Sink& to) { return produce(up, to, 5'000'000, sent); },
        [&](bh::Input& from) -> bh::Result<void> {
          // A reader that does not come yet: the writer waits.
          std::this_thread::sleep_for(std::chrono::milliseconds(200));
          ahead = sent;
          auto got = consume(up, from);
          if (!got) return tl::unexpected(got.error());
          total = *got;
          return {};
        });
    if (!done) return done;
    return up.set_result(std::to_string(total));
  });
  CHECK(host.run("t.pipe").result == "5000000");
  CHECK(ahead < 400'000);
}

TEST_CASE("who fails first has the word, and the other one is not left waiting") {
  EngineHost host;
  std::atomic<std::size_t> sent{0};
  std::string end_seen = "none";
  host.add("t.writer_fails", [&](Call& up) {
    return bh::pipe_bytes(
        up,
        [&](bh::Sink& to) -> bh::Result<void> {
          auto some = produce(up, to, 1000, sent);
          if (!some) return some;
          return bh::fail(BH_DATA_LOSS, "the source is broken", "record");
        },
        [&](bh::Input& from) -> bh::Result<void> {
          auto got = consume(up, from);
          // Never as an end: a file that was cut would look whole.
          end_seen = got ? "end" : std::to_string(got.error().code);
          if (!got) return tl::unexpected(got.error());
          return {};
        });
  });
  Outcome out = host.run("t.writer_fails");
  CHECK(out.fault.code == BH_DATA_LOSS);
  CHECK(end_seen == std::to_string(BH_ABORTED));

  sent = 0;
  host.add("t.reader_fails", [&](Call& up) {
    return bh::pipe_bytes(
        up, [&](bh::Sink& to) { return produce(up, to, 50'000'000, sent); },
        [&](bh::Input& from) -> bh::Result<void> {
          (void)consume(up, from, 100'000);
          return bh::fail(BH_RESOURCE_EXHAUSTED, "the disk is full", "no_space");
        });
  });
  out = host.run("t.reader_fails");
  CHECK(out.fault.code == BH_RESOURCE_EXHAUSTED);
  CHECK(sent < 1'000'000);

  // A reader that has enough is no failure of its own, but of the whole where bytes were left.
  sent = 0;
  host.add("t.waits", [&](Call& up) {
    return bh::pipe_bytes(
        up,
        [&](bh::Sink&) -> bh::Result<void> {
          bh_status st = up.wait(60'000'000'000);
          return tl::unexpected(bh::stop_error(st));
        },
        [&](bh::Input& from) -> bh::Result<void> {
          auto got = consume(up, from);
          if (!got) return tl::unexpected(bh::stop_error(got.error().code));
          return {};
        });
  });
  out = host.run("t.waits", host.options(1, 100));
  CHECK(out.fault.code == BH_DEADLINE_EXCEEDED);
}
