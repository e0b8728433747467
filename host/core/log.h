// The host's log: records go to who follows it (log.follow) and, where the operator wants it, to a
// file. The library never writes to the process's stdout or stderr.
#pragma once

#include <bulkhead/plugin.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/error.h"

namespace bh {

struct Session;

struct LogRecord {
  int level = BH_LOG_INFO;
  std::string message;
  std::string plugin;  // whose it is; empty: the host's
  std::string fields;  // a JSON object or empty
};

// "trace" to "error", "host_misuse", "plugin_misuse".
std::string_view log_level_name(int level);
// The number of such a name, or -1.
int log_level_of(std::string_view name);

class LogFile;

class Log {
 public:
  Log();
  ~Log();

  // A file gets what is at `level` or above.
  Result<void> open_file(const std::string& path, int level);

  // Cheap: does anybody want this level? [any]
  bool on(int level) const { return level >= lowest_.load(std::memory_order_relaxed); }
  // `whose`: the session on whose behalf it happened, or null. [any]
  void write(const LogRecord& record, const Session* whose);

  // Gets each record as JSON until the returned handle goes, before the log does. A persona gets its own records alone,
  // the operator all. The function must not wait. [any]
  using Follower = std::function<void(const std::string& json)>;
  std::shared_ptr<void> follow(int level, const Session& reader, Follower follower);

 private:
  struct Entry;
  void find_lowest_locked();

  std::atomic<int> lowest_{BH_LOG_PLUGIN_MISUSE + 1};
  std::mutex mutex_;
  std::list<std::weak_ptr<Entry>> followers_;
  std::unique_ptr<LogFile> file_;
  int file_level_ = BH_LOG_PLUGIN_MISUSE + 1;
};

}  // namespace bh
