// Bytes both ways: all of them, in order, apart, with back-pressure and in bounded memory.
#include <atomic>
#include <thread>

#include "../core/box.h"
#include "../core/suite.h"
#include "../core/traces.h"

namespace bulkhead::sdk::contract {

namespace {

constexpr uint64_t kMany = uint64_t{64} << 20;

// A sanitizer keeps what was freed, so growth says nothing there.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMeasures = false;
#else
constexpr bool kMeasures = true;
#endif

void apart(Try& t) {
  Box box(t);
  const Ran ran = box.sh("echo one; echo two >&2; echo three; echo four >&2");
  t.equal("stdout", ran.out, "one\nthree\n");
  t.equal("stderr", ran.err, "two\nfour\n");
}

void binary(Try& t) {
  Box box(t);
  std::string all;
  for (int round = 0; round < 3; ++round) {
    for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  }
  Command command{{"/bin/sh", "-c", "cat"}};
  command.fed = all;
  const Ran ran = box.run(command);
  t.expect(ran.exited(0) && ran.out == all, "768 bytes of every kind came back as " + ran.told());
}

void no_input(Try& t) {
  Box box(t);
  const Ran ran = box.sh("cat; echo end");
  t.expect(ran.exited(0) && ran.out == "end\n", "without input stdin is not empty: " + ran.told());
}

void empty_input(Try& t) {
  Box box(t);
  Running running = box.start(Command{{"/bin/sh", "-c", "cat; echo end"}, {}, true});
  running.call().end_of_input();
  const Ran ran = running.wait(seconds(20));
  t.expect(ran.exited(0) && ran.out == "end\n", "input that ends at once: " + ran.told());
}

void in_turn(Try& t) {
  Box box(t);
  Running running =
      box.start(Command{{"/bin/sh", "-c", "while read line; do echo got $line; done"}, {}, true});
  for (const char* word : {"one", "two", "three"}) {
    running.call().feed(std::string(word) + "\n");
    t.require(running.says(std::string("got ") + word + "\n"),
              std::string("a line that comes while it runs is not answered: ") + word);
  }
  running.call().end_of_input();
  t.expect(running.wait(seconds(20)).exited(0), "the end of the input does not end it");
}

void as_it_comes(Try& t) {
  Box box(t);
  Running running =
      box.start(Command{{"/bin/sh", "-c", "echo now; read line; echo later"}, {}, true});
  t.expect(running.says("now\n", seconds(10)), "output is held back until the command ends");
  running.call().end_of_input();
  (void)running.wait(seconds(20));
}

// stdout and stderr at once, checked byte by byte, none kept.
void large_output(Try& t) {
  Box box(t);
  std::atomic<uint64_t> out{0}, err{0};
  std::atomic<bool> wrong{false};
  Command command{{"/bin/sh", "-c", "tee /dev/stderr"}, {}, true};
  command.sink = [&](int32_t stream, std::string_view bytes) {
    auto& at = stream == BH_STREAM_STDOUT ? out : err;
    for (const char c : bytes) {
      if (c != Call::pattern(at)) wrong = true;
      ++at;
    }
    return bh_status{BH_OK};
  };
  const int64_t before = resident_bytes();
  Running running = box.start(command);
  running.call().feed_pattern(kMany);
  int64_t most = 0;
  while (!running.done(milliseconds(20))) most = std::max(most, resident_bytes() - before);
  const Ran ran = running.wait(seconds(120));
  t.require(ran.exited(0), ran.told());
  t.equal("bytes on stdout", out.load(), kMany);
  t.equal("bytes on stderr", err.load(), kMany);
  t.expect(!wrong, "bytes were changed or came out of order");
  t.expect(!kMeasures || most < (int64_t{24} << 20),
           "this process grew by " + std::to_string(most >> 20) + " MiB while 64 passed");
}

void slow_reader(Try& t) {
  Box box(t);
  std::atomic<uint64_t> taken{0};
  std::atomic<bool> open{false};
  Command command{{"/bin/sh", "-c", "head -c 33554432 /dev/zero"}};
  command.sink = [&](int32_t, std::string_view bytes) {
    taken += bytes.size();
    while (!open) std::this_thread::sleep_for(milliseconds(5));
    return bh_status{BH_OK};
  };
  const int64_t before = resident_bytes();
  Running running = box.start(command);
  (void)running.done(milliseconds(1000));
  const int64_t grown = resident_bytes() - before;
  open = true;
  const Ran ran = running.wait();
  t.expect(ran.exited(0), ran.told());
  t.equal("bytes that a slow reader got", taken.load(), uint64_t{33554432});
  t.expect(!kMeasures || grown < (int64_t{16} << 20),
           "output is hoarded while the reader waits: " + std::to_string(grown >> 20) + " MiB");
}

void unread_input(Try& t) {
  Box box(t);
  Running running = box.start(Command{{"/bin/sh", "-c", "echo runs; sleep 1; exit 5"}, {}, true});
  running.call().feed_pattern(kMany);
  const Ran ran = running.wait(seconds(20));
  t.require(ran.exited(5), "a command that reads nothing: " + ran.told());
  t.expect(ran.said.received < (uint64_t{8} << 20),
           "input is hoarded while the command reads none: " + std::to_string(ran.said.received) +
               " bytes");
}

void closed_input(Try& t) {
  Box box(t);
  Running running = box.start(Command{
      {"/bin/sh", "-c", "exec <&-; echo closed; read -r x < /dev/null; sleep 1"}, {}, true});
  running.call().feed_pattern(kMany);
  const Ran ran = running.wait(seconds(20));
  t.expect(ran.ok(), ran.told());
  t.expect(ran.said.input_ended, "the sender is not told that the command closed its stdin");
}

void last_bytes(Try& t) {
  Box box(t);
  for (int i = 0; i < 20; ++i) {
    const Ran ran = box.sh("head -c 200000 /dev/zero; printf end; printf last >&2");
    t.expect(
        ran.out.size() == 200003 && ran.err == "last",
        "bytes right before the end are lost: " + std::to_string(ran.out.size()) + " of 200003");
  }
}

}  // namespace

void add_streams(Suite& s) {
  s.add("streams.apart", "stdout and stderr are two streams, each in order", apart);
  s.add("streams.binary", "every byte passes both ways", binary);
  s.add("streams.no_input", "without input stdin is empty", no_input);
  s.add("streams.empty_input", "input that ends at once is empty", empty_input);
  s.add("streams.in_turn", "input passes while the command runs", in_turn);
  s.add("streams.as_it_comes", "output passes while the command runs", as_it_comes);
  s.add("streams.large", "64 MiB in, twice 64 MiB out, unchanged and in bounded memory",
        large_output);
  s.add("streams.slow_reader", "a slow reader holds the command up, nothing is hoarded",
        slow_reader);
  s.add("streams.unread_input", "input that nobody reads is not hoarded", unread_input);
  s.add("streams.closed_input", "a command that closes its stdin tells the sender", closed_input);
  s.add("streams.last_bytes", "what is written right before the end arrives", last_bytes);
}

}  // namespace bulkhead::sdk::contract
