// serve_stdio(): one thread, which waits in poll() alone.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>

#include "mcp/engine.h"
#include "mcp/line_reader.h"
#include "mcp/out_stream.h"
#include "mcp/stdio.h"

namespace bh::mcp {
namespace {

constexpr int events_a_turn = 256;

EngineOptions engine_options(const ServeOptions& o) {
  EngineOptions e;
  e.limits = o.limits;
  e.version = o.version;
  e.instructions = o.instructions;
  return e;
}

class Loop {
 public:
  explicit Loop(const ServeOptions& options)
      : options_(options),
        out_(options.out_fd),
        lines_(options.limits.message_bytes),
        engine_(
            *options.host, [this](std::string&& text) { send(std::move(text)); },
            engine_options(options)) {}

  bool run() {
    while (!finished()) {
      wait();
      engine_.tick();
      take_events();
      flush();
      if (ending() && engine_.idle() && !idle_at_end_) {
        idle_at_end_ = true;
        end_by_ = std::min(*end_by_, Clock::now() + options_.drain);
      }
    }
    return engine_.idle();
  }

 private:
  bool ending() const { return end_by_.has_value(); }

  bool finished() const {
    if (!ending()) return false;
    bool drained = out_.waiting() == 0 || reader_gone_;
    return (engine_.idle() && drained) || Clock::now() >= *end_by_;
  }

  bool congested() const { return out_.waiting() > options_.out_bytes; }

  void send(std::string&& text) {
    if (reader_gone_) return;
    out_.add(std::move(text));
    if (congested()) engine_.set_congested(true);
  }

  // Waits for whatever comes first, and reads what has come.
  void wait() {
    std::array<pollfd, 4> fds;
    bool reads = !ending() && engine_.wants_input();
    bool writes = out_.waiting() != 0 && !reader_gone_;
    // While the client does not read, the host's events stay where they are: the runs that made
    // them wait, and others go on. At the end they are taken all the same, so that all can end.
    bool takes = ending() || !congested();
    fds[0] = {reads ? options_.in_fd : -1, POLLIN, 0};
    // Asked for even with nothing to write, for the news that the reader has gone.
    fds[1] = {reader_gone_ ? -1 : options_.out_fd, static_cast<short>(writes ? POLLOUT : 0), 0};
    fds[2] = {takes ? options_.host->fd() : -1, POLLIN, 0};
    fds[3] = {ending() ? -1 : options_.stop_fd, POLLIN, 0};
    if (poll(fds.data(), fds.size(), timeout()) < 0) return;  // EINTR: the next turn sees the rest
    if (fds[3].revents != 0) begin_end();
    if ((fds[1].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) lose_reader();
    if (!ending() && fds[0].revents != 0) read_some();
  }

  int timeout() const {
    auto at = engine_.wake_at();
    if (ending() && (!at || *end_by_ < *at)) at = end_by_;
    if (!at) return -1;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(*at - Clock::now()).count();
    return static_cast<int>(std::clamp<long long>(left, 0, 60000));
  }

  void read_some() {
    auto line = [this](std::string_view text) { engine_.feed(text); };
    ssize_t n = read(options_.in_fd, buffer_.data(), buffer_.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (n > 0) {
      lines_.feed({buffer_.data(), static_cast<size_t>(n)}, line,
                  [this] { engine_.refuse_too_long(); });
      return;
    }
    lines_.end(line);
    begin_end();
  }

  void take_events() {
    for (int i = 0; i < events_a_turn && (ending() || !congested()); ++i)
      if (!options_.host->take([this](const HostEvent& event) { engine_.on_event(event); })) break;
  }

  void flush() {
    if (!reader_gone_ && !out_.write_some()) lose_reader();
    if (out_.waiting() <= options_.out_bytes / 2) engine_.set_congested(false);
  }

  void lose_reader() {
    reader_gone_ = true;
    begin_end();
  }

  void begin_end() {
    if (ending()) return;
    end_by_ = Clock::now() + options_.grace;
    engine_.shut_down();
  }

  const ServeOptions& options_;
  OutStream out_;
  LineReader lines_;
  Engine engine_;
  bool reader_gone_ = false;
  bool idle_at_end_ = false;
  std::optional<Clock::time_point> end_by_;
  std::array<char, 65536> buffer_;
};

}  // namespace

bool serve_stdio(const ServeOptions& options) {
  SigpipeBlocked quiet;
  auto loop = std::make_unique<Loop>(options);
  return loop->run();
}

}  // namespace bh::mcp
