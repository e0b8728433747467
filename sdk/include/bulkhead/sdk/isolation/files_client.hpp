// bulkhead/sdk/isolation/files_client.hpp - the host's side of a file worker: asks it, streams bytes
// both ways in bounded memory, and believes nothing that it says beyond what a sandbox may say.
// files_box.hpp starts one.
#ifndef BULKHEAD_SDK_ISOLATION_FILES_CLIENT_HPP
#define BULKHEAD_SDK_ISOLATION_FILES_CLIENT_HPP

#include <poll.h>

#include <cstring>
#include <optional>

#include "../isolation_files.hpp"
#include "files_protocol.hpp"
#include "files_trouble.hpp"
#include "launch.hpp"
#include "pump.hpp"

namespace bulkhead::sdk::isolation {

// One worker; used by one thread at a time. Where a function fails otherwise than by the worker's
// own word, the worker is broken: it is not asked again.
class FileWorker {
 public:
  explicit FileWorker(Launched launched) : l_(std::move(launched)) {}
  FileWorker(const FileWorker&) = delete;
  FileWorker& operator=(const FileWorker&) = delete;
  ~FileWorker() { end(); }

  bool broken() const { return broken_; }
  static Failure no_protocol() {
    return failure(BH_INTERNAL,
                   "the file worker inside the sandbox does not keep to its protocol; it was ended",
                   "file_worker");
  }
  // Readable when it has ended.
  int pidfd() const { return l_.pidfd.get(); }
  pid_t pid() const { return l_.pid; }
  // Nothing may have come from one that nobody asked.
  bool idle_well() const {
    pollfd p[2] = {{l_.pidfd.get(), POLLIN, 0}, {l_.out.get(), POLLIN, 0}};
    return !broken_ && buffer_.empty() && ::poll(p, 2, 0) == 0;
  }

  // Asks and waits for the end. `info`, `data`: take what comes until then; a Status that is not
  // ok ends it.
  template <class OnInfo, class OnData>
  Status ask(Call& call, const files::Request& request, OnInfo info, OnData data) {
    const NoSigpipe quiet;
    if (auto st = send(call, files::kRequest, encode(request)); !st) return st;
    for (;;) {
      auto kind = next(call);
      if (!kind) return std::move(kind).failure();
      switch (*kind) {
        case files::kInfo: {
          files::Info one;
          if (!decode(body_, one) || one.kind > 3 || one.size > INT64_MAX) return garbage();
          if (auto st = info(one); !st) return stop(std::move(st));
          break;
        }
        case files::kData:
          if (auto st = data(std::string_view(body_)); !st) return stop(std::move(st));
          break;
        case files::kDone:
          return {};
        case files::kFailed:
          return worker_said(request.act);
        default:
          return garbage();
      }
    }
  }

  // A write: `data`, or the call's input where the request says so.
  Status write(Call& call, const files::Request& request, std::string_view data) {
    const NoSigpipe quiet;
    if (auto st = send(call, files::kRequest, encode(request)); !st) return st;
    auto kind = next(call);
    if (!kind) return std::move(kind).failure();
    if (*kind == files::kFailed) return worker_said(request.act);
    if (*kind != files::kReady) return garbage();
    const bool from_call = (request.flags & files::kInput) != 0;
    if (auto st = from_call ? send_input(call) : send_known(call, data); !st) return st;
    // Said early or not, this ends the bytes.
    if (auto st = send(call, files::kEnd, {}); !st) return st;
    kind = next(call);
    if (!kind) return std::move(kind).failure();
    if (*kind == files::kFailed) return worker_said(request.act);
    return *kind == files::kDone ? Status() : garbage();
  }

  // Closes its pipe, which ends it; what does not end by that is killed. Within 2 s.
  void end() {
    if (ended_) return;
    ended_ = true;
    l_.in.reset();
    l_.out.reset();
    pollfd p{l_.pidfd.get(), POLLIN, 0};
    if (::poll(&p, 1, 300) <= 0) {
      l_.end_all();
      if (::poll(&p, 1, 1000) <= 0) l_.kill_helper();
    }
    l_.reap();
  }

 private:
  using Head = files::FrameHead;

  Status stop(Status st) {
    broken_ = true;
    return st;
  }
  Status garbage() { return stop(no_protocol()); }
  Status worker_said(uint32_t act) {
    files::Outcome outcome;
    if (!decode(body_, outcome) || outcome.error == 0) return garbage();
    return files::failure_of(outcome.error, act);
  }
  // It has ended, without having been asked to.
  Status gone(Call& call) {
    broken_ = true;
    if (auto st = call.stopped(); !st) return st;
    read_rest();
    const std::string text = to_utf8(trouble_.substr(0, trouble_.rfind('\n')));
    if (!started_ && !heard_) {
      return failure(BH_FAILED_PRECONDITION,
                     "the sandbox cannot be set up: " +
                         (text.empty() ? std::string("the helper program ended early") : text),
                     "set_up", {}, "see `bulkhead doctor` for what this machine allows");
    }
    return failure(BH_UNAVAILABLE,
                   "the file worker inside the sandbox ended in the middle of its work: the sandbox "
                   "is being destroyed, or a limit of it was reached",
                   "file_worker_ended", {}, "look whether the sandbox is still there; try again");
  }
  void read_rest() {
    Note note;
    while (l_.control && receive_note(l_.control.get(), note) == 1) {
      if (note.kind == Note::kStarted) started_ = true;
      if (note.kind == Note::kNotRun) trouble_ = std::strerror(note.b) + std::string("\n");
    }
    char text[1024];
    ssize_t n;
    while (l_.trouble && (n = ::read(l_.trouble.get(), text, sizeof text)) > 0) {
      if (trouble_.size() < 4096) trouble_.append(text, static_cast<size_t>(n));
    }
  }

  // Waits for `events` on one of its pipes (or, with `other`, until that is readable); what it says
  // meanwhile is read. A Status that is not ok: cancelled, or it is gone.
  Status wait(Call& call, bool to_write, int other = -1, bool* other_ready = nullptr) {
    pollfd p[5] = {{room() ? l_.out.get() : -1, POLLIN, 0},
                   {to_write ? l_.in.get() : -1, POLLOUT, 0},
                   {l_.pidfd.get(), POLLIN, 0},
                   {static_cast<int>(call.cancel_fd()), POLLIN, 0},
                   {other, POLLIN, 0}};
    if (::poll(p, 5, -1) < 0 && errno != EINTR) return stop(lost_poll());
    if (p[3].revents != 0) {
      if (auto st = call.stopped(); !st) return stop(std::move(st));
    }
    if (p[0].revents != 0) {
      const size_t before = buffer_.size();
      buffer_.resize(before + files::kChunk);
      const ssize_t n = ::read(l_.out.get(), buffer_.data() + before, files::kChunk);
      buffer_.resize(before + static_cast<size_t>(std::max<ssize_t>(n, 0)));
      if (n > 0) heard_ = true;
      if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return gone(call);
    } else if (p[2].revents != 0 || (p[1].revents & (POLLERR | POLLNVAL)) != 0) {
      // What it said last counts; there is no more when the pipe is empty.
      return gone(call);
    }
    if (other_ready != nullptr) *other_ready = p[4].revents != 0;
    return {};
  }
  static Failure lost_poll() {
    return failure(BH_INTERNAL, std::string("waiting for the file worker: ") + std::strerror(errno),
                   "system");
  }

  // ---- from the worker

  bool room() const { return buffer_.size() - at_ < files::kMostBody + sizeof(Head); }
  // Whether a whole frame is there; its kind and size. An impossible size counts as there.
  bool frame_there(Head& head) const {
    if (buffer_.size() - at_ < sizeof head) return false;
    std::memcpy(&head, buffer_.data() + at_, sizeof head);
    return head.size > files::kMostBody || buffer_.size() - at_ - sizeof head >= head.size;
  }
  // The next frame's kind; its body is body_.
  Result<uint32_t> next(Call& call) {
    Head head;
    while (!frame_there(head)) {
      if (auto st = wait(call, false); !st) return std::move(st).failure();
    }
    if (head.size > files::kMostBody) return std::move(garbage()).failure();
    body_.assign(buffer_, at_ + sizeof head, head.size);
    at_ += sizeof head + head.size;
    if (at_ == buffer_.size() || at_ > files::kMostBody) {
      buffer_.erase(0, at_);
      at_ = 0;
    }
    return head.kind;
  }

  // ---- to the worker

  Status send(Call& call, files::FrameKind kind, std::string_view body) {
    if (body.size() > files::kMostBody) {
      return failure(BH_INVALID_ARGUMENT, "the paths are longer than any file's", "path_invalid",
                     "path", "name a shorter path");
    }
    const std::string bytes = frame(kind, body);
    for (size_t sent = 0; sent < bytes.size();) {
      const ssize_t n = ::write(l_.in.get(), bytes.data() + sent, bytes.size() - sent);
      if (n >= 0) {
        sent += static_cast<size_t>(n);
        continue;
      }
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return gone(call);
      if (auto st = wait(call, true); !st) return st;
    }
    return {};
  }
  // Whether it has said something before the bytes ended: then it wants no more of them.
  bool said_something() const { return buffer_.size() - at_ != 0; }

  Status send_known(Call& call, std::string_view data) {
    while (!data.empty() && !said_something()) {
      const size_t n = std::min(data.size(), files::kChunk);
      if (auto st = send(call, files::kData, data.substr(0, n)); !st) return st;
      data.remove_prefix(n);
    }
    return {};
  }
  Status send_input(Call& call) {
    std::string chunk(files::kChunk, '\0');
    while (!said_something()) {
      bool ready = false;
      if (auto st = wait(call, false, static_cast<int>(call.receive_fd()), &ready); !st) return st;
      if (!ready) continue;
      auto got = call.receive(chunk.data(), chunk.size());
      if (!got) return stop(got.status());
      if (*got == 0) return {};
      if (auto st = send(call, files::kData, std::string_view(chunk).substr(0, *got)); !st) {
        return st;
      }
    }
    call.end_input();
    return {};
  }

  Launched l_;
  std::string buffer_, body_, trouble_;
  size_t at_ = 0;
  bool started_ = false, heard_ = false, broken_ = false, ended_ = false;
};

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_FILES_CLIENT_HPP
