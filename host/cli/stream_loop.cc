#include "cli/stream_loop.h"

#include <errno.h>
#include <poll.h>

#include <algorithm>

#include "cli/json.h"

namespace bh::cli {
namespace {
// The library promises that a cancelled run ends within two seconds; this is for a broken one.
constexpr std::int64_t kGiveUpMs = 10000;
}  // namespace

StreamLoop::Ending StreamLoop::go(int input_fd) {
  inlet_ = Inlet(input_fd);
  while (!ended_) {
    wait();
    take_signals();
    flush();
    take_events();
    progress_.tick();
    if (!ended_ && give_up_ms_ != 0 && now_ms() >= give_up_ms_) {
      ending_.fault = bulkhead::Fault(BH_INTERNAL, "the run did not end after it was cancelled");
      ended_ = true;
    }
  }
  progress_.stop();
  return std::move(ending_);
}

void StreamLoop::wait() {
  pollfd fds[3];
  nfds_t n = 0;
  fds[n++] = {signals_.fd(), POLLIN, 0};
  // One of the two: a new event is taken when the last one is written.
  if (outlet_ != nullptr) {
    fds[n++] = {outlet_->fd(), POLLOUT, 0};
  } else {
    fds[n++] = {static_cast<int>(queue_.fd()), POLLIN, 0};
  }
  bool input = inlet_.wants_read();
  if (input) fds[n++] = {inlet_.fd(), POLLIN, 0};

  int timeout = progress_.wait_ms();
  if (give_up_ms_ != 0) {
    int left = static_cast<int>(std::max<std::int64_t>(0, give_up_ms_ - now_ms()));
    timeout = timeout < 0 ? left : std::min(timeout, left);
  }
  int ready = ::poll(fds, n, timeout);
  if (ready > 0 && input && fds[2].revents != 0) feed(inlet_.read_into(run_));
}

void StreamLoop::feed(const bulkhead::Fault& fault) {
  // The run's own end says more than the fault of one send; without input it will come.
  if (fault) inlet_.stop();
}

void StreamLoop::take_signals() {
  while (std::optional<int> number = signals_.next()) {
    if (*number == SIGCONT) continue;  // back in the foreground: wants_read() looks again
    if (handler_.signal(*number)) cancel();
  }
}

void StreamLoop::cancel() {
  ending_.cancelled = true;
  if (give_up_ms_ == 0) give_up_ms_ = now_ms() + kGiveUpMs;
  inlet_.stop();
  run_.cancel();
}

void StreamLoop::flush() {
  if (outlet_ == nullptr) return;
  Outlet::State state = outlet_->push(rest_);
  if (state == Outlet::State::kFull) {
    // Who cancels does not wait for a reader that has stopped reading.
    if (!ending_.cancelled) return;
  } else if (state == Outlet::State::kClosed) {
    ending_.reader_gone = true;
    cancel();
  } else if (state == Outlet::State::kFailed) {
    if (ending_.write_error == 0) ending_.write_error = outlet_->error();
    cancel();
  }
  outlet_ = nullptr;
  rest_ = {};
  held_ = bulkhead::Event();
}

void StreamLoop::take_events() {
  while (!ended_ && outlet_ == nullptr) {
    bulkhead::Event event;
    bulkhead::Fault fault = queue_.next(0, event);
    if (fault) {
      ending_.fault = std::move(fault);
      ended_ = true;
      return;
    }
    if (!event) return;
    handle(std::move(event));
  }
}

void StreamLoop::handle(bulkhead::Event event) {
  if (event.tag() != kTag) return;
  switch (event.kind()) {
    case BH_EVENT_OUTPUT: {
      if (event.stream() >= BH_STREAM_ATTACHED) {
        handler_.attachment_bytes(event);
        return;
      }
      int fd = ending_.reader_gone || ending_.write_error != 0 ? 0 : handler_.route(event.stream());
      if (fd == 0) return;
      progress_.clear();
      outlet_ = fd == 1 ? &stdout_ : &stderr_;
      rest_ = event.data();
      held_ = std::move(event);
      flush();
      return;
    }
    case BH_EVENT_ROOM:
      feed(inlet_.go_on(run_));
      return;
    case BH_EVENT_PROGRESS: {
      progress_.detail(string_at(parse_object_or_empty(event.data()), "message"));
      return;
    }
    case BH_EVENT_ITEM:
      handler_.item(event);
      return;
    case BH_EVENT_ATTACHMENT:
      handler_.attachment(event);
      return;
    case BH_EVENT_RESULT:
      ending_.result = std::string(event.data());
      break;
    case BH_EVENT_FAULT:
      ending_.fault = event.fault();
      break;
    default:
      return;
  }
  ended_ = true;
}

}  // namespace bh::cli
