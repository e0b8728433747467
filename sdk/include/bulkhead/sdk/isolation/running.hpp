// bulkhead/sdk/isolation/running.hpp - the commands that this process runs, by sandbox and id, so
// that signal() and destroy() reach them from other threads.
#ifndef BULKHEAD_SDK_ISOLATION_RUNNING_HPP
#define BULKHEAD_SDK_ISOLATION_RUNNING_HPP

#include <sys/ioctl.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "launch_note.hpp"

namespace bulkhead::sdk::isolation {

// One command; shared by the thread that runs it and those that reach for it. [any]
class RunningCommand {
 public:
  RunningCommand(std::string sandbox_id, std::string exec_id, int control, int helper)
      : sandbox(std::move(sandbox_id)),
        exec(std::move(exec_id)),
        control_(::fcntl(control, F_DUPFD_CLOEXEC, 3)),
        helper_(::fcntl(helper, F_DUPFD_CLOEXEC, 3)) {}

  const std::string sandbox, exec;

  // False: it has ended.
  bool signal(int number) {
    last_signal_ = number;
    Note note;
    note.kind = Note::kSignal;
    note.a = number;
    return send_note(control_.get(), note);
  }
  // Ends it as BH_EXIT_STOPPED.
  void stop() {
    stopped_ = true;
    (void)pidfd_send_signal(helper_.get(), 15);
  }
  // The host's end of its terminal, once there is one.
  void has_terminal(int fd) {
    std::lock_guard lock(m_);
    terminal_.reset(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  }
  // False: it has none; errno is 0 then, else the kernel's.
  bool resize(uint32_t rows, uint32_t columns) {
    winsize size{};
    size.ws_row = static_cast<unsigned short>(std::min(rows, 65535u));
    size.ws_col = static_cast<unsigned short>(std::min(columns, 65535u));
    std::lock_guard lock(m_);
    errno = 0;
    return terminal_ && ::ioctl(terminal_.get(), TIOCSWINSZ, &size) == 0;
  }
  bool stopped() const { return stopped_; }
  int last_signal() const { return last_signal_; }

 private:
  Fd control_, helper_;
  std::mutex m_;
  Fd terminal_;
  std::atomic<bool> stopped_{false};
  std::atomic<int> last_signal_{0};
};

class RunningCommands {
 public:
  void add(std::shared_ptr<RunningCommand> one) {
    std::lock_guard lock(m_);
    all_.push_back(std::move(one));
  }
  void remove(const std::shared_ptr<RunningCommand>& one) {
    std::lock_guard lock(m_);
    for (auto it = all_.begin(); it != all_.end(); ++it) {
      if (*it == one) {
        all_.erase(it);
        return;
      }
    }
  }
  // Of a sandbox; of all of its commands when `exec` is empty.
  std::vector<std::shared_ptr<RunningCommand>> find(std::string_view sandbox,
                                                    std::string_view exec = {}) const {
    std::lock_guard lock(m_);
    std::vector<std::shared_ptr<RunningCommand>> out;
    for (const auto& one : all_) {
      if (one->sandbox == sandbox && (exec.empty() || one->exec == exec)) out.push_back(one);
    }
    return out;
  }

 private:
  mutable std::mutex m_;
  std::vector<std::shared_ptr<RunningCommand>> all_;
};

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_RUNNING_HPP
