// bulkhead/sdk/isolation/files_box.hpp - the ability Files of a backend with a helper program: starts
// file workers like commands, keeps an unused one for a moment, ends them with the sandbox.
#ifndef BULKHEAD_SDK_ISOLATION_FILES_BOX_HPP
#define BULKHEAD_SDK_ISOLATION_FILES_BOX_HPP

#include <sys/eventfd.h>
#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "command.hpp"
#include "files_client.hpp"

namespace bulkhead::sdk::isolation {

// A worker with all that a command has: its line in the sandbox's folder, its control group. Goes
// from the last member to the first.
struct HeldFileWorker {
  HeldFileWorker(const Store& store, std::string id, const std::string& name)
      : sandbox(std::move(id)), entered(store, sandbox, name) {}
  const std::string sandbox;
  detail::Entered entered;
  detail::Leaf leaf;
  std::shared_ptr<void> order;  // what the start borrowed, until it has started
  std::unique_ptr<FileWorker> worker;
};

// Unused workers of a backend's sandboxes, each for a moment, and the thread that ends them. [any]
class FileWorkers {
 public:
  explicit FileWorkers(std::chrono::milliseconds keep = std::chrono::milliseconds(3000))
      : keep_(keep), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  FileWorkers(const FileWorkers&) = delete;
  FileWorkers& operator=(const FileWorkers&) = delete;
  ~FileWorkers() {
    {
      const std::lock_guard lock(m_);
      closing_ = true;
    }
    wake();
    if (thread_.joinable()) thread_.join();
  }

  // An unused one, or null.
  std::unique_ptr<HeldFileWorker> take(const std::string& sandbox) {
    const std::lock_guard lock(m_);
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      if (it->held->sandbox != sandbox || !it->held->worker->idle_well()) continue;
      auto held = std::move(it->held);
      idle_.erase(it);
      return held;
    }
    return nullptr;
  }
  void give(std::unique_ptr<HeldFileWorker> held) {
    {
      const std::lock_guard lock(m_);
      const auto same = std::count_if(idle_.begin(), idle_.end(), [&](const Idle& one) {
        return one.held->sandbox == held->sandbox;
      });
      if (!closing_ && wake_ && same < kMostOfOne && idle_.size() < kMost && start()) {
        idle_.push_back({std::move(held), Clock::now() + keep_});
      }
    }
    wake();
    // One too many ends here, outside the lock.
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::ptrdiff_t kMostOfOne = 2;
  static constexpr size_t kMost = 16;
  struct Idle {
    std::unique_ptr<HeldFileWorker> held;
    Clock::time_point until;
  };

  void wake() const {
    const uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof one);
  }
  bool start() {
    if (thread_.joinable()) return true;
    // No signal of the embedder's is handled here.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before);
    try {
      thread_ = std::thread([this] { look_after(); });
    } catch (const std::system_error&) {
      // Without a thread none is kept.
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread_.joinable();
  }
  // Ends those whose time is over, and puts away those that destroy() has ended, also from another
  // process: it waits for their line to go.
  void look_after() {
    std::unique_lock lock(m_);
    for (;;) {
      std::vector<Idle> over;
      const auto now = Clock::now();
      for (auto it = idle_.begin(); it != idle_.end();) {
        if (!closing_ && now < it->until && it->held->worker->idle_well()) {
          ++it;
          continue;
        }
        over.push_back(std::move(*it));
        it = idle_.erase(it);
      }
      if (over.empty() && closing_) return;
      std::vector<pollfd> sets{{wake_.get(), POLLIN, 0}};
      int timeout = -1;
      for (const Idle& one : idle_) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(one.until - now).count() + 1;
        sets.push_back({one.held->worker->pidfd(), POLLIN, 0});
        timeout = timeout < 0 ? static_cast<int>(left) : std::min(timeout, static_cast<int>(left));
      }
      lock.unlock();
      if (over.empty()) {
        (void)::poll(sets.data(), sets.size(), timeout);
        uint64_t drained = 0;
        (void)!::read(wake_.get(), &drained, sizeof drained);
      }
      over.clear();
      lock.lock();
    }
  }

  const std::chrono::milliseconds keep_;
  const Fd wake_;
  std::mutex m_;
  std::vector<Idle> idle_;
  std::thread thread_;
  bool closing_ = false;
};

// `make`: as run_command()'s; its order's task becomes a file worker's.
template <class Make>
Result<std::unique_ptr<HeldFileWorker>> start_file_worker(Sandboxes& all, const std::string& id,
                                                          const Limits& limits, Make make) {
  uint64_t random = 0;
  (void)!::getrandom(&random, sizeof random, 0);
  const std::string name = Store::kFileWorker + std::to_string(random);
  if (auto st = all.store.enter(id, name); !st) return std::move(st).failure();
  auto held = std::make_unique<HeldFileWorker>(all.store, id, name);
  CommandSetting setting;
  if (auto st = held->leaf.make(all.group(id), id, limits, Limits()); !st) {
    return std::move(st).failure();
  }
  if (auto st = not_paused(all.store, id); !st) return std::move(st).failure();
  if (held->leaf.group.used()) {
    auto doors = held->leaf.group.doors();
    if (!doors) return std::move(doors).failure();
    setting.doors = std::move(*doors);
  }
  auto made = make(std::move(setting));
  if (!made) return std::move(made).failure();
  auto order = std::make_shared<std::decay_t<decltype(*made)>>(std::move(*made));
  LaunchOrder& launch = order->launch;
  launch.input = true;
  launch.task.worker = 1;
  launch.task.argv = {"files"};
  launch.task.env.clear();
  launch.task.cwd = "/";
  // A call's own time ends it, not a command's.
  launch.task.wall_ns = 0;
  auto launched = start_order(*order, 0);
  if (!launched) return std::move(launched).failure();
  held->order = std::move(order);
  held->worker = std::make_unique<FileWorker>(std::move(*launched));
  if (auto st = all.store.note_helper(id, name, held->worker->pid()); !st) {
    return std::move(st).failure();
  }
  return held;
}

// What a Sandbox derives from beside its base.
class SandboxFiles : public Files {
 public:
  Status stat(Call& call, std::string_view path, uint32_t flags, const EachFile& each) override {
    files::Request r = request(files::kStat, path, flags);
    return with_worker(call, [&](FileWorker& worker) -> Status {
      int found = 0;
      auto one = [&](const files::Info& info) -> Status {
        if (++found > 1 || !info.name.empty()) return FileWorker::no_protocol();
        return give(info, each);
      };
      if (auto st = worker.ask(call, r, one, &no_data); !st) return st;
      return found == 1 ? Status() : FileWorker::no_protocol();
    });
  }
  Status list(Call& call, std::string_view path, uint32_t depth, const EachFile& each) override {
    files::Request r = request(files::kList, path);
    r.depth = depth;
    return with_worker(call, [&](FileWorker& worker) {
      auto one = [&](const files::Info& info) -> Status {
        if (!is_below(info.name)) return FileWorker::no_protocol();
        return give(info, each);
      };
      return worker.ask(call, r, one, &no_data);
    });
  }
  Status read(Call& call, std::string_view path, int64_t offset, int64_t size) override {
    if (offset < 0) {
      return failure(BH_INVALID_ARGUMENT, "an offset is not negative", "path_invalid", "offset");
    }
    files::Request r = request(files::kRead, path);
    r.offset = static_cast<uint64_t>(offset);
    if (size >= 0) r.size = static_cast<uint64_t>(size);
    return with_worker(call, [&](FileWorker& worker) {
      uint64_t left = r.size;
      auto part = [&](std::string_view data) -> Status {
        if (data.empty() || data.size() > left) return FileWorker::no_protocol();
        left -= data.size();
        return call.emit(BH_STREAM_DATA, data);
      };
      return worker.ask(call, r, &no_info, part);
    });
  }
  Status write(Call& call, std::string_view path, uint32_t flags, const FileAccess& access,
               std::string_view data) override {
    files::Request r = request(files::kWrite, path, flags, access);
    return with_worker(call, [&](FileWorker& worker) { return worker.write(call, r, data); });
  }
  Status make_folder(Call& call, std::string_view path, uint32_t flags,
                     const FileAccess& access) override {
    return just(call, request(files::kMakeFolder, path, flags, access));
  }
  Status set_access(Call& call, std::string_view path, const FileAccess& access) override {
    return just(call, request(files::kSetAccess, path, 0, access));
  }
  Status rename(Call& call, std::string_view from, std::string_view to, uint32_t flags) override {
    files::Request r = request(files::kRename, from, flags);
    r.to = to;
    return just(call, r);
  }
  Status remove(Call& call, std::string_view path, uint32_t flags) override {
    return just(call, request(files::kRemove, path, flags));
  }

 protected:
  // Both outlive it.
  SandboxFiles(Sandboxes& all, FileWorkers& workers, std::string id)
      : all_(all), workers_(workers), sandbox_(std::move(id)) {}
  ~SandboxFiles() = default;
  // By start_file_worker().
  virtual Result<std::unique_ptr<HeldFileWorker>> start_files(Call& call) = 0;

 private:
  static files::Request request(uint32_t act, std::string_view path, uint32_t flags = 0,
                                const FileAccess& access = {}) {
    files::Request r;
    r.act = act;
    r.flags = flags;
    r.path = path;
    r.mode = access.mode;
    r.owner = access.owner;
    r.group = access.group;
    return r;
  }
  static Status no_data(std::string_view) { return FileWorker::no_protocol(); }
  static Status no_info(const files::Info&) { return FileWorker::no_protocol(); }
  Status just(Call& call, const files::Request& r) {
    return with_worker(call,
                       [&](FileWorker& worker) { return worker.ask(call, r, &no_info, &no_data); });
  }

  template <class Body>
  Status with_worker(Call& call, Body body) {
    if (auto st = call.stopped(); !st) return st;
    auto held = workers_.take(sandbox_);
    if (held == nullptr) {
      auto made = start_files(call);
      if (!made) return std::move(made).failure();
      held = std::move(*made);
    }
    const Status st = body(*held->worker);
    const bool broken = held->worker->broken();
    if (broken) {
      held.reset();
    } else {
      held->order.reset();
      workers_.give(std::move(held));
    }
    if (!st && broken && !all_.store.usable(sandbox_) && !st.failure().message().empty()) {
      return failure(BH_FAILED_PRECONDITION, "the sandbox was ended in the middle of that",
                     "sandbox_ended");
    }
    return st;
  }

  // A relative path without steps upwards.
  static bool is_below(std::string_view name) {
    if (name.empty() || name.size() > 2 * PATH_MAX) return false;
    for (size_t at = 0; at <= name.size();) {
      const size_t end = std::min(name.find('/', at), name.size());
      const std::string_view part = name.substr(at, end - at);
      if (part.empty() || part == "." || part == "..") return false;
      at = end + 1;
    }
    return true;
  }
  static Status give(const files::Info& from, const EachFile& each) {
    auto has_nul = [](std::string_view s) { return s.find('\0') != std::string_view::npos; };
    if (has_nul(from.name) || has_nul(from.target) || from.target.size() > PATH_MAX) {
      return FileWorker::no_protocol();
    }
    const std::string owner = to_utf8(from.owner.substr(0, 256));
    const std::string group = to_utf8(from.group.substr(0, 256));
    bh_file_info info{};
    info.struct_size = sizeof info;
    info.kind = static_cast<int32_t>(from.kind);
    info.name = str(from.name);
    info.size = static_cast<int64_t>(from.size);
    info.modified_ns = from.modified_ns;
    info.created_ns = std::max<int64_t>(from.created_ns, -1);
    info.target = str(from.target);
    info.owner = str(owner);
    info.group = str(group);
    info.mode = from.mode & 07777;
    return each(info);
  }

  Sandboxes& all_;
  FileWorkers& workers_;
  const std::string sandbox_;
};

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_FILES_BOX_HPP
