// The folder of a store, opened, and what processes and threads share in it.
//
//   files/   the tree that callers see
//   tmp/     up-*: uploads on their way, each locked by its maker; gone-*: folders being removed
//   types/   media types, where the file system keeps no attributes
//   lock     flock: whoever changes anything
//   members  flock, shared: whoever has the store open
//   usage    what the tree holds (usage.h)
#pragma once

#include <mutex>

#include "beneath.h"
#include "config.h"

namespace filestore_dir {

// Held while the store is changed, against other threads and other processes. Short: nothing that
// waits for a caller or a disk's queue is done under it.
class Lock {
 public:
  Lock(Lock&& o) noexcept : guard_(std::move(o.guard_)), fd_(std::exchange(o.fd_, -1)) {}
  ~Lock();

 private:
  friend class Place;
  Lock(std::unique_lock<std::timed_mutex> guard, int fd) : guard_(std::move(guard)), fd_(fd) {}
  std::unique_lock<std::timed_mutex> guard_;
  int fd_;
};

// Made by open(), owned by the Store. All functions are [any].
class Place {
 public:
  // Opens and, where nobody else has it open, tidies up and counts.
  static sdk::Result<std::unique_ptr<Place>> open(sdk::Call& call, Config config);

  // Waits, but not longer than the call wants to.
  sdk::Result<Lock> lock(sdk::Call& call);

  const Config& config() const { return config_; }
  int files() const { return files_.get(); }
  int tmp() const { return tmp_.get(); }
  int types() const { return types_.get(); }
  int usage() const { return usage_.get(); }

 private:
  explicit Place(Config config) : config_(std::move(config)) {}
  sdk::Status open_parts();
  sdk::Status check_clock() const;

  Config config_;
  Fd root_, files_, tmp_, types_, lock_, members_, usage_;
  std::timed_mutex mutex_;
};

}  // namespace filestore_dir
