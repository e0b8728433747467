// The loop around the engine, over real pipes and sockets, with a host that answers by itself.
#include "mcp/stdio.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <mutex>
#include <set>
#include <thread>

#include "mcp/json_view.h"
#include "mcp/line_reader.h"
#include "mcp/out_stream.h"
#include "support/catch.h"

using namespace bh::mcp;
using bulkhead::Fault;

namespace {

// Tools "echo" (answers at once), "big" (a megabyte), "slow" (until it is cancelled), "stuck"
// (never).
class PlayedHost : public HostPort {
 public:
  ~PlayedHost() override { close(fd_); }

  Fault start(uint64_t tag, std::string_view, std::string_view args) override {
    std::string name = JsonView(args).member("name").text();
    if (name == "slow" || name == "stuck") {
      (name == "slow" ? slow_ : stuck_).insert(tag);
      return {};
    }
    std::string text(name == "big" ? 1 << 20 : 5, 'x');
    put({tag, R"({"content":[{"type":"text","text":")" + text + "\"}]}", BH_OK});
    return {};
  }
  void cancel(uint64_t tag) override {
    ++cancels;
    if (slow_.erase(tag) != 0) put({tag, "", BH_CANCELLED});
  }
  int fd() const override { return fd_; }
  bool take(const std::function<void(const HostEvent&)>& handle) override {
    if (events_.empty()) return false;
    Happened h = std::move(events_.front());
    events_.pop_front();
    uint64_t n;
    if (events_.empty() && read(fd_, &n, sizeof n) < 0) return false;
    HostEvent e;
    e.tag = h.tag;
    e.kind = h.code == BH_OK ? BH_EVENT_RESULT : BH_EVENT_FAULT;
    e.data = h.json;
    if (h.code != BH_OK) e.fault = Fault(h.code, "stopped");
    handle(e);
    return true;
  }
  size_t running() const { return slow_.size() + stuck_.size(); }
  std::atomic<int> cancels{0};

 private:
  struct Happened {
    uint64_t tag;
    std::string json;
    bh_status code;
  };
  void put(Happened h) {
    events_.push_back(std::move(h));
    uint64_t one = 1;
    if (write(fd_, &one, sizeof one) < 0) std::abort();
  }
  int fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::deque<Happened> events_;
  std::set<uint64_t> slow_, stuck_;
};

struct Pair {
  int ours;
  int theirs;
};

// serve_stdio() on a thread of its own, and a client's ends of its fds.
class Served {
 public:
  explicit Served(bool sockets = false, Limits limits = {}, int grace_ms = 20000) {
    in_ = sockets ? socket_pair() : pipe_pair(false);
    out_ = sockets ? socket_pair() : pipe_pair(true);
    stop_ = eventfd(0, EFD_CLOEXEC);
    options_.host = &host;
    options_.in_fd = in_.theirs;
    options_.out_fd = out_.theirs;
    options_.stop_fd = stop_;
    options_.limits = limits;
    options_.out_bytes = 256 * 1024;
    options_.grace = std::chrono::milliseconds(grace_ms);
    thread_ = std::thread([this] { code_ = serve_stdio(options_) ? 0 : 125; });
    say(R"({"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25"}})"
        "\n");
    if (hear("hello").empty()) std::abort();
  }
  ~Served() {
    close_in();
    close_out();
    if (thread_.joinable()) thread_.join();
    close(in_.theirs);
    close(out_.theirs);
    close(stop_);
  }

  void say(std::string_view text) {
    while (!text.empty()) {
      ssize_t n = write(in_.ours, text.data(), text.size());
      if (n <= 0) std::abort();
      text.remove_prefix(static_cast<size_t>(n));
    }
  }
  void call(const std::string& id, const std::string& tool) {
    say(R"({"jsonrpc":"2.0","id":")" + id + R"(","method":"tools/call","params":{"name":")" + tool +
        "\"}}\n");
  }
  // Reads until the answer to `id` is there; it, or empty after 20 s or at the end.
  std::string hear(const std::string& id) {
    std::string found;
    while (found.empty()) {
      while (!lines_.empty() && found.empty()) {
        if (JsonView(lines_.front()).member("id").raw() == id ||
            JsonView(lines_.front()).member("id").text() == id)
          found = lines_.front();
        lines_.pop_front();
      }
      if (!found.empty() || !read_more(20000)) break;
    }
    return found;
  }
  // What is left when it has ended.
  std::deque<std::string> rest() {
    while (read_more(0)) {
    }
    return lines_;
  }
  bool read_more(int timeout_ms) {
    pollfd p{out_.ours, POLLIN, 0};
    if (poll(&p, 1, timeout_ms) != 1) return false;
    char buffer[65536];
    ssize_t n = read(out_.ours, buffer, sizeof buffer);
    if (n <= 0) return false;
    reader_.feed(
        {buffer, static_cast<size_t>(n)}, [&](std::string_view l) { lines_.emplace_back(l); },
        [] {});
    return true;
  }
  void close_in() {
    if (in_.ours >= 0) close(in_.ours);
    in_.ours = -1;
  }
  void close_out() {
    if (out_.ours >= 0) close(out_.ours);
    out_.ours = -1;
  }
  void stop() {
    uint64_t one = 1;
    if (write(stop_, &one, sizeof one) < 0) std::abort();
  }
  int exit_code() {
    thread_.join();
    return code_;
  }

  PlayedHost host;

 private:
  static Pair socket_pair() {
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) std::abort();
    return {fds[0], fds[1]};
  }
  static Pair pipe_pair(bool we_read) {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) std::abort();
    return we_read ? Pair{fds[0], fds[1]} : Pair{fds[1], fds[0]};
  }

  ServeOptions options_;
  Pair in_, out_;
  int stop_;
  int code_ = -1;
  LineReader reader_{64u << 20};
  std::deque<std::string> lines_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("lines come in any pieces") {
  std::vector<std::string> got;
  int too_long = 0;
  LineReader reader(10);
  auto feed = [&](std::string_view s) {
    reader.feed(
        s, [&](std::string_view l) { got.emplace_back(l); }, [&] { ++too_long; });
  };
  feed("ab");
  feed("c\r");
  feed("\n\n  \r\n\t\nd");
  feed("e\nf\n1234567890\n12345678901\n");
  feed("x");
  for (int i = 0; i < 100; ++i) feed("yyyyyyyyyyy");
  feed("\ng\nrest");
  CHECK(got == std::vector<std::string>{"abc", "de", "f", "1234567890", "g"});
  CHECK(too_long == 2);
  reader.end([&](std::string_view l) { got.emplace_back(l); });
  CHECK(got.back() == "rest");
}

TEST_CASE("requests in pieces, with CRLF and blank lines between, over pipes and sockets") {
  for (bool sockets : {false, true}) {
    INFO(sockets);
    Served s(sockets);
    s.say("\n\r\n{\"jsonrpc\":\"2.0\",");
    s.say("\"id\":1,\"method\":\"ping\"}\r\n   \n{");
    CHECK(s.hear("1") == R"({"jsonrpc":"2.0","id":1,"result":{}})");
    s.say("\n");
    CHECK(s.hear("null").find("-32700") != std::string::npos);
    s.call("e", "echo");
    CHECK(s.hear("e").find("xxxxx") != std::string::npos);
    s.close_in();
    CHECK(s.exit_code() == 0);
  }
}

TEST_CASE("a message without a newline at the end of input is a message") {
  Served s;
  s.say(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  s.close_in();
  CHECK_FALSE(s.hear("1").empty());
  CHECK(s.exit_code() == 0);
}

TEST_CASE("a line that is too long is refused, and the next one is served") {
  Limits limits;
  limits.message_bytes = 100000;
  Served s(false, limits);
  std::string huge = R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":")";
  s.say(huge);
  for (int i = 0; i < 10; ++i) s.say(std::string(100000, 'x'));
  s.say("\"}}\n");
  std::string refused = s.hear("null");
  CHECK(refused.find("-32600") != std::string::npos);
  CHECK(refused.find("\"limit_bytes\":100000") != std::string::npos);
  s.say("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n");
  CHECK_FALSE(s.hear("2").empty());
}

TEST_CASE("at the end of input what runs is cancelled, answered, and waited for") {
  Served s;
  for (int i = 0; i < 20; ++i) s.call("s" + std::to_string(i), "slow");
  s.call("e", "echo");
  CHECK_FALSE(s.hear("e").empty());
  s.close_in();
  CHECK(s.exit_code() == 0);
  int stopped = 0;
  for (const std::string& line : s.rest())
    stopped += line.find("\"isError\":true") != std::string::npos;
  CHECK(stopped == 20);
  CHECK(s.host.running() == 0);
  CHECK(s.host.cancels == 20);
}

TEST_CASE("what does not end in time is told by the exit code") {
  Served s(false, {}, 50);
  s.call("s", "stuck");
  s.close_in();
  CHECK(s.exit_code() == 125);
}

TEST_CASE("a client that goes away ends it, without SIGPIPE") {
  for (bool sockets : {false, true}) {
    INFO(sockets);
    Served s(sockets);
    s.call("s", "slow");
    s.call("e", "echo");
    CHECK_FALSE(s.hear("e").empty());
    s.close_out();
    CHECK(s.exit_code() == 0);
    CHECK(s.host.running() == 0);
  }
}

TEST_CASE("a client that does not read holds nothing else up") {
  for (bool sockets : {false, true}) {
    INFO(sockets);
    Served s(sockets);
    s.call("slow", "slow");
    for (int i = 0; i < 8; ++i) s.call("b" + std::to_string(i), "big");
    // Long before 8 MB were written nobody reads any more; a cancellation is heard nevertheless.
    s.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}})"
          "\n");
    for (int i = 0; i < 2000 && s.host.cancels == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(s.host.cancels == 1);
    SECTION(sockets ? "reads on (sockets)" : "reads on (pipes)") {
      for (int i = 0; i < 8; ++i) CHECK(s.hear("b" + std::to_string(i)).size() > (1u << 20));
      s.close_in();
      CHECK(s.exit_code() == 0);
    }
    SECTION(sockets ? "goes away (sockets)" : "goes away (pipes)") {
      s.close_out();
      CHECK(s.exit_code() == 0);
    }
  }
}

TEST_CASE("it stops when told to, also while the client does not read") {
  Served s;
  s.call("slow", "slow");
  for (int i = 0; i < 10; ++i) s.call("b" + std::to_string(i), "big");
  s.stop();
  int code = s.exit_code();
  CHECK(code == 0);
  CHECK(s.host.running() == 0);
}

TEST_CASE("a flood of small requests is answered, each once") {
  Served s;
  std::thread writer([&] {
    std::string many;
    for (int i = 0; i < 20000; ++i)
      many += R"({"jsonrpc":"2.0","id":)" + std::to_string(i) +
              R"(,"method":"ping"})"
              "\n";
    s.say(many);
  });
  int heard = 0;
  for (int i = 0; i < 20000; ++i) heard += !s.hear(std::to_string(i)).empty();
  writer.join();
  CHECK(heard == 20000);
}
