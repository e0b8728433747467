#include "images/unpack.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/own_folder.h"
#include "base/utf8.h"

namespace bh {
namespace {

constexpr char kHelper[] = "bulkhead-unpack";
// Its numbers of what it gets (images/worker/report.h).
constexpr int kSource = 0, kReport = 1, kComplaint = 2, kTarget = 3;
constexpr std::size_t kMostReport = 4u << 20;
constexpr std::size_t kPiece = 256u << 10;
constexpr int kLookMs = 1000;

// Above the numbers that the child's own take.
Fd high(Fd fd) { return Fd(fd ? ::fcntl(fd.get(), F_DUPFD_CLOEXEC, 10) : -1); }
Fd copy_of(int fd) { return Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 10)); }

class Worker {
 public:
  Worker(Call& call, const UnpackJob& job) : call_(call), job_(job) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    // While the report is open it is there, so its number is no other's.
    if (report_) ::kill(pid_, SIGKILL);
    if (pid_ > 0 && !waited_) (void)wait();
  }

  Result<json::object> run() {
    BH_TRY(start());
    while (report_) {
      BH_TRY(call_.check());
      BH_TRY(step());
    }
    const std::string ending = wait();
    if (error_) return tl::unexpected(std::move(*error_));
    if (done_) return std::move(*done_);
    return fail(BH_INTERNAL, "the program that unpacks images " + ending + said(), "image_unpack",
                {{"remedy", "report it with the image; nothing of it was kept"}});
  }

 private:
  Result<void> start() {
    const std::string helper = job_.helper.empty() ? own_helper(kHelper) : job_.helper;
    if (helper.empty()) {
      return fail(BH_UNAVAILABLE, "the program bulkhead-unpack is not there, and images are unpacked by it",
                  "image_unpack", {{"remedy", "install Bulkhead with its libexec folder"}});
    }
    Fd source;
    if (job_.source < 0) {
      int ends[2];
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return no_start(errno);
      feed_ = Fd(ends[0]);
      source = high(Fd(ends[1]));
      ::fcntl(feed_.get(), F_SETFL, O_NONBLOCK);
    } else {
      source = copy_of(job_.source);
    }
    int pipe[2];
    if (::pipe2(pipe, O_CLOEXEC) != 0) return no_start(errno);
    report_ = Fd(pipe[0]);
    Fd report = high(Fd(pipe[1]));
    complaint_ = high(Fd(::memfd_create(kHelper, MFD_CLOEXEC)));
    const Fd target = copy_of(job_.target);
    if (!source || !report || !complaint_ || !target) {
      report_.reset();
      return no_start(errno);
    }
    const int number = spawn(helper, source.get(), report.get(), target.get());
    if (number == 0) return {};
    report_.reset();
    return no_start(number);
  }

  int spawn(const std::string& helper, int source, int report, int target) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&how);
    ::posix_spawn_file_actions_adddup2(&files, source, kSource);
    ::posix_spawn_file_actions_adddup2(&files, report, kReport);
    ::posix_spawn_file_actions_adddup2(&files, complaint_.get(), kComplaint);
    ::posix_spawn_file_actions_adddup2(&files, target, kTarget);
    // Host threads have all signals blocked, and an embedder may ignore some.
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&how, &none);
    ::posix_spawnattr_setsigdefault(&how, &all);
    ::posix_spawnattr_setpgroup(&how, 0);
    ::posix_spawnattr_setflags(
        &how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    std::string name = kHelper, options = json::print(job_.options);
    char* const argv[] = {name.data(), options.data(), nullptr};
    char* const env[] = {nullptr};
    const int number = ::posix_spawn(&pid_, helper.c_str(), &files, &how, argv, env);
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&how);
    if (number != 0) pid_ = -1;
    return number;
  }

  static Failure no_start(int number) {
    return fail(BH_UNAVAILABLE,
                std::string("the program bulkhead-unpack cannot be started: ") + std::strerror(number),
                "image_unpack");
  }

  // One look at everything that may have something to do.
  Result<void> step() {
    const bool hungry = feed_ && rest_.empty();
    std::array<pollfd, 4> fds{{{report_.get(), POLLIN, 0},
                               {static_cast<int>(call_.cancel_fd()), POLLIN, 0},
                               {hungry ? static_cast<int>(call_.input().fd()) : -1, POLLIN, 0},
                               {!rest_.empty() ? feed_.get() : -1, POLLOUT, 0}}};
    if (::poll(fds.data(), fds.size(), kLookMs) < 0 && errno != EINTR) {
      return fail_errno(errno, "waiting for the program that unpacks images");
    }
    if (fds[0].revents != 0) BH_TRY(take_report());
    if (fds[2].revents != 0) BH_TRY(take_input());
    if (fds[3].revents != 0) give();
    return {};
  }

  Result<void> take_input() {
    held_.resize(kPiece);
    std::size_t got = 0;
    if (bh_status st = call_.input().receive(call_, held_.data(), held_.size(), &got)) {
      auto known = call_.recorded();
      return known ? tl::unexpected(stop_error(st)) : known;
    }
    if (got == 0) {
      feed_.reset();
    } else {
      rest_ = std::string_view(held_.data(), got);
    }
    return {};
  }

  void give() {
    const ssize_t n = ::send(feed_.get(), rest_.data(), rest_.size(), MSG_NOSIGNAL);
    if (n >= 0) {
      rest_.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno != EAGAIN && errno != EINTR) {
      // It has seen enough, and says why.
      rest_ = {};
      feed_.reset();
      call_.input().end();
    }
  }

  Result<void> take_report() {
    char buffer[65536];
    const ssize_t got = ::read(report_.get(), buffer, sizeof buffer);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return {};
    if (got <= 0) {
      report_.reset();
      return {};
    }
    text_.append(buffer, static_cast<std::size_t>(got));
    if (text_.size() > kMostReport) {
      return fail(BH_INTERNAL, "the program that unpacks images says too much", "image_unpack");
    }
    for (std::size_t end = 0; (end = text_.find('\n')) != std::string::npos;) {
      take_line(std::string_view(text_).substr(0, end));
      text_.erase(0, end + 1);
    }
    return {};
  }

  // It parses what strangers wrote, so that its own words are taken with care, too.
  void take_line(std::string_view line) {
    auto said = json::parse_object(line);
    if (!said) return;
    if (const json::object* done = json::get_object(*said, "done")) {
      done_ = *done;
    } else if (const json::object* told = json::get_object(*said, "error")) {
      Error error;
      const std::int64_t code = json::get_int(*told, "code");
      error.code = code > BH_OK && code <= BH_UNAUTHENTICATED ? static_cast<bh_status>(code) : BH_INTERNAL;
      error.message = json::get_string(*told, "message");
      if (const json::object* details = json::get_object(*told, "details")) {
        error.details = json::print(*details);
      }
      error_ = std::move(error);
    } else {
      json::object progress;
      progress["entries"] = json::get_int(*said, "entries");
      progress["bytes"] = json::get_int(*said, "bytes");
      progress["message"] = "unpacking: " + std::to_string(json::get_int(*said, "entries")) +
                            " files, " + std::to_string(json::get_int(*said, "bytes") >> 20) + " MiB";
      call_.event(json::print(progress));
    }
  }

  std::string wait() {
    waited_ = true;
    siginfo_t info{};
    int st = 0;
    do {
      st = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED);
    } while (st < 0 && errno == EINTR);
    if (st != 0) return "is gone";
    if (info.si_code == CLD_EXITED) return "ended with code " + std::to_string(info.si_status);
    return "was ended by signal " + std::to_string(info.si_status);
  }

  std::string said() const {
    std::string text(400, '\0');
    const ssize_t got = ::pread(complaint_.get(), text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text.empty() ? "" : "; it said: " + json::quote(utf8::repair(text));
  }

  Call& call_;
  const UnpackJob& job_;
  pid_t pid_ = -1;
  bool waited_ = false;
  Fd feed_, report_, complaint_;
  std::vector<char> held_;
  std::string_view rest_;  // of held_
  std::string text_;
  std::optional<json::object> done_;
  std::optional<Error> error_;
};

}  // namespace

Result<json::object> unpack_image(Call& call, const UnpackJob& job) { return Worker(call, job).run(); }

}  // namespace bh
