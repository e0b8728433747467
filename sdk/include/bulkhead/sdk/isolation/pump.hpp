// bulkhead/sdk/isolation/pump.hpp - one command from its start to its end: bytes both ways with
// back-pressure and in bounded memory, limits, cancel, and the short drain after the command ended.
#ifndef BULKHEAD_SDK_ISOLATION_PUMP_HPP
#define BULKHEAD_SDK_ISOLATION_PUMP_HPP

#include <poll.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "../isolation.hpp"
#include "launch.hpp"
#include "running.hpp"

namespace bulkhead::sdk::isolation {

// What is known when the helper has ended and nothing of the command is left.
struct Ending {
  bool started = false;  // the command's program ran
  bool exited = false;   // `status` holds
  int status = 0;        // as from waitpid
  int32_t not_run = 0;   // Note::NotRun, with `error` the errno
  int error = 0;
  bool leftovers = false, output_open = false;
  bool time_up = false, output_over = false, stopped = false;
  int64_t wall_ns = 0, cpu_ns = -1;
  std::string trouble;  // what helper and wall said, when it did not start
  bh_status cancelled = BH_OK;
};

// The thread's SIGPIPE, held back while we write to pipes that may lose their reader: a thread of
// the embedder's own may have it unblocked.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigset_t pending;
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;
  ~NoSigpipe() {
    const timespec now{0, 0};
    if (!was_pending_) {
      while (::sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
      }
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

class Pump {
 public:
  struct Settings {
    std::optional<uint64_t> output_bytes;
    uint64_t wall_ns = 0;
  };
  Pump(Call& call, Launched& launched, RunningCommand& running, Settings settings)
      : call_(call), l_(launched), running_(running), settings_(settings), buffer_(kChunk, '\0') {}

  // Returns when nothing of the command is left; never later than about 2 s after a cancel.
  Ending run() {
    const NoSigpipe quiet;
    begin_until_ = now() + kBegin;
    if (settings_.wall_ns != 0) {
      const auto wall = static_cast<int64_t>(settings_.wall_ns);
      begin_until_ = std::min(begin_until_, now() + wall + kBegin / 4);
    }
    while (!helper_gone_ && !nothing_left()) step();
    finish_streams();
    if (l_.in) call_.end_input();
    l_.reap();
    end_.stopped = running_.stopped();
    if (started_at_ != 0) end_.wall_ns = (ended_at_ != 0 ? ended_at_ : now()) - started_at_;
    return std::move(end_);
  }

 private:
  static constexpr size_t kChunk = 65536;
  static constexpr int64_t kMs = 1000000;
  static constexpr int64_t kDrain = 120 * kMs;
  static constexpr int64_t kPatience = 1200 * kMs;
  // From its start to its first word. A busy machine takes seconds; a helper that was stopped before
  // it said anything, perhaps by the command itself, must not hold the caller for good.
  static constexpr int64_t kBegin = 60000 * kMs;

  static int64_t now() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
  }

  enum Slot { kControl, kHelper, kJob, kCancel, kTrouble, kOut, kErr, kIn, kReceive, kSlots };

  // The command and all that it started has ended; what watched over it has no more to say.
  bool nothing_left() const { return l_.looked_after && end_.exited && !end_.leftovers; }

  void step() {
    pollfd p[kSlots];
    for (auto& one : p) one = {-1, POLLIN, 0};
    p[kControl].fd = l_.control.get();
    p[kHelper].fd = l_.pidfd.get();
    p[kJob].fd = job_open_ ? l_.job.get() : -1;
    p[kCancel].fd = ending_ ? -1 : static_cast<int>(call_.cancel_fd());
    p[kTrouble].fd = l_.trouble.get();
    p[kOut].fd = l_.out.get();
    p[kErr].fd = l_.err.get();
    // Without bytes to write it is watched all the same: its reader may go.
    p[kIn] = {l_.in.get(), static_cast<short>(pending_.empty() ? 0 : POLLOUT), 0};
    if (l_.in && pending_.empty() && end_.started) {
      p[kReceive].fd = static_cast<int>(call_.receive_fd());
    }
    const int n = ::poll(p, kSlots, timeout());
    if (n < 0 && errno != EINTR) end_all();
    if (n > 0) {
      if (p[kControl].revents != 0) read_notes(l_.control, control_open_);
      if (p[kJob].revents != 0) read_notes(l_.job, job_open_);
      if (p[kTrouble].revents != 0) read_trouble();
      if (p[kCancel].revents != 0) look_for_cancel();
      if (p[kOut].revents != 0) read_stream(l_.out, BH_STREAM_STDOUT);
      if (p[kErr].revents != 0) read_stream(l_.err, BH_STREAM_STDERR);
      // The end of the pipe that a terminal has just taken the place of is not the terminal's. It may
      // have come between poll's look at the note that brings the terminal and that at the pipe.
      if ((p[kIn].revents & (POLLERR | POLLNVAL)) != 0) read_notes(l_.control, control_open_);
      if (p[kIn].revents != 0 && p[kIn].fd == l_.in.get()) write_input(p[kIn].revents);
      if (p[kReceive].revents != 0) receive_input();
      if (p[kHelper].revents != 0) {
        helper_gone_ = true;
        read_notes(l_.control, control_open_);
        read_notes(l_.job, job_open_);
        read_trouble();
        return;
      }
    }
    look_at_clock();
  }

  int timeout() const {
    int64_t next = INT64_MAX;
    if (drain_until_ != 0) next = std::min(next, drain_until_);
    if (kill_at_ != 0) next = std::min(next, kill_at_);
    if (wall_until_ != 0) next = std::min(next, wall_until_);
    if (begin_until_ != 0) next = std::min(next, begin_until_);
    if (next == INT64_MAX) return -1;
    return static_cast<int>(std::clamp<int64_t>((next - now()) / kMs + 1, 0, 60000));
  }

  void look_at_clock() {
    // What the command left and still holds the output open is given a moment, no more.
    if (drain_until_ != 0 && !finish_sent_) {
      const bool open = l_.out || l_.err;
      if (!open || now() >= drain_until_) {
        end_.output_open = open;
        finish_sent_ = true;
        drain_until_ = 0;
        Note note;
        note.kind = Note::kFinish;
        (void)send_note(l_.control.get(), note);
        kill_at_ = now() + kPatience;
      }
    }
    // The init keeps the time; this is for an init that does not.
    if (wall_until_ != 0 && now() >= wall_until_) {
      wall_until_ = 0;
      end_.time_up = true;
      end_all();
    }
    if (begin_until_ != 0 && now() >= begin_until_) {
      begin_until_ = 0;
      end_.time_up = settings_.wall_ns != 0;
      end_.trouble += "its first process was stopped, or the machine is too busy to start it\n";
      end_all();
    }
    if (kill_at_ != 0 && now() >= kill_at_) {
      kill_at_ = now() + kPatience;
      if (asked_) {
        l_.kill_helper();
      } else {
        end_all();
      }
    }
  }

  void end_all() {
    ending_ = true;
    if (asked_) return;
    asked_ = true;
    l_.end_all();
    kill_at_ = now() + kPatience;
  }

  void look_for_cancel() {
    const Status st = call_.stopped();
    if (!st.ok()) stop_for(st);
  }
  void stop_for(const Status& st) {
    if (end_.cancelled == BH_OK) end_.cancelled = st.code();
    end_all();
  }

  void read_notes(Fd& socket, bool& open) {
    Note note;
    Fd beside;
    int n = 0;
    while (open && (n = receive_note(socket.get(), note, MSG_DONTWAIT, &beside)) == 1) {
      if (note.kind == Note::kTerminal && beside) use_terminal(std::move(beside));
      take(note);
    }
    if (open && n == 0) {
      open = false;
      // The control socket stays for look_at_clock(); a closed one is merely not watched.
      if (&socket == &l_.control) socket.reset();
    }
  }
  void take(const Note& note) {
    switch (note.kind) {
      case Note::kStarted:
        end_.started = true;
        begin_until_ = 0;
        started_at_ = now();
        if (settings_.wall_ns != 0) {
          wall_until_ = started_at_ + static_cast<int64_t>(settings_.wall_ns) + 1000 * kMs;
        }
        break;
      case Note::kNotRun:
        end_.not_run = note.a;
        end_.error = note.b;
        begin_until_ = 0;
        break;
      case Note::kExited:
        end_.exited = true;
        end_.status = note.a;
        end_.leftovers = (note.b & Note::kLeftovers) != 0;
        end_.time_up = end_.time_up || (note.b & Note::kTimeUp) != 0;
        if (!end_.leftovers) end_.cpu_ns = note.c;
        ended_at_ = now();
        wall_until_ = begin_until_ = 0;
        if (end_.leftovers) {
          drain_until_ = now() + kDrain;
        } else if (kill_at_ == 0) {
          kill_at_ = now() + 10 * kPatience;
        }
        break;
      case Note::kUsage:
        end_.cpu_ns = note.c;
        break;
      default:
        break;
    }
  }

  // All that the command says and hears goes through it instead.
  void use_terminal(Fd terminal) {
    (void)::fcntl(terminal.get(), F_SETFL, O_NONBLOCK);
    running_.has_terminal(terminal.get());
    if (l_.in) l_.in = terminal.duplicate();
    l_.err.reset();
    l_.out = std::move(terminal);
    terminal_ = true;
  }

  void read_trouble() {
    char text[1024];
    ssize_t n;
    while (l_.trouble && (n = ::read(l_.trouble.get(), text, sizeof text)) != 0) {
      if (n < 0) {
        if (errno == EINTR) continue;
        if (errno == EAGAIN) return;
        break;
      }
      if (end_.trouble.size() < 4096) end_.trouble.append(text, static_cast<size_t>(n));
    }
    l_.trouble.reset();
  }

  // One chunk at a time, so that no stream and no clock is starved.
  bool read_stream(Fd& fd, int32_t stream) {
    const ssize_t n = ::read(fd.get(), buffer_.data(), buffer_.size());
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (n <= 0) {
      fd.reset();
      return false;
    }
    if (end_.cancelled != BH_OK || end_.output_over) return true;
    auto size = static_cast<size_t>(n);
    if (settings_.output_bytes) {
      const uint64_t left = *settings_.output_bytes - written_;
      if (size > left) {
        size = static_cast<size_t>(left);
        end_.output_over = true;
      }
    }
    written_ += size;
    if (size != 0) {
      const Status st = call_.emit(stream, std::string_view(buffer_.data(), size));
      if (!st.ok()) stop_for(st);
    }
    if (end_.output_over) end_all();
    return true;
  }

  // Everything is dead: what is in the pipes is all there will be.
  void finish_streams() {
    while (l_.out && read_stream(l_.out, BH_STREAM_STDOUT)) {
    }
    while (l_.err && read_stream(l_.err, BH_STREAM_STDERR)) {
    }
  }

  void close_input() {
    // A terminal's reader sees no end of a file; it is told as a person would.
    if (terminal_ && l_.in) (void)!::write(l_.in.get(), "\x04", 1);
    l_.in.reset();
    pending_.clear();
  }
  void receive_input() {
    pending_.resize(kChunk);
    auto got = call_.receive(pending_.data(), pending_.size());
    if (!got.ok()) {
      pending_.clear();
      stop_for(got.status());
      return;
    }
    pending_.resize(*got);
    sent_ = 0;
    if (*got == 0) {
      close_input();
    } else {
      write_input(POLLOUT);
    }
  }
  void write_input(short events) {
    while (!pending_.empty() && (events & POLLERR) == 0) {
      const ssize_t n = ::write(l_.in.get(), pending_.data() + sent_, pending_.size() - sent_);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n < 0) {
        events = POLLERR;
        break;
      }
      sent_ += static_cast<size_t>(n);
      if (sent_ == pending_.size()) pending_.clear();
    }
    // The command has closed its stdin, or has ended.
    if ((events & (POLLERR | POLLNVAL)) != 0) {
      close_input();
      call_.end_input();
    }
  }

  Call& call_;
  Launched& l_;
  RunningCommand& running_;
  Settings settings_;
  Ending end_;
  std::string buffer_, pending_;
  size_t sent_ = 0;
  uint64_t written_ = 0;
  int64_t started_at_ = 0, ended_at_ = 0, drain_until_ = 0, kill_at_ = 0, wall_until_ = 0,
          begin_until_ = 0;
  bool control_open_ = true, job_open_ = true, terminal_ = false;
  bool helper_gone_ = false, ending_ = false, asked_ = false, finish_sent_ = false;
};

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_PUMP_HPP
