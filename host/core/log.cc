#include "core/log.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/json.h"
#include "core/clock.h"
#include "core/log_file.h"
#include "core/session.h"

namespace bh {

namespace {
constexpr std::array<std::string_view, 7> kNames = {"trace", "debug",       "info",         "warn",
                                                    "error", "host_misuse", "plugin_misuse"};
}

struct Log::Entry {
  int level;
  std::string persona;
  bool everything;
  Follower follower;
};

Log::Log() = default;
Log::~Log() = default;

std::string_view log_level_name(int level) {
  return level >= 0 && level < static_cast<int>(kNames.size()) ? kNames[static_cast<std::size_t>(level)]
                                                               : "other";
}

int log_level_of(std::string_view name) {
  auto at = std::find(kNames.begin(), kNames.end(), name);
  return at == kNames.end() ? -1 : static_cast<int>(at - kNames.begin());
}

Result<void> Log::open_file(const std::string& path, int level) {
  auto file = LogFile::open(path);
  if (!file) return tl::unexpected(std::move(file).error());
  std::lock_guard lock(mutex_);
  file_ = std::move(*file);
  file_level_ = level;
  find_lowest_locked();
  return {};
}

void Log::find_lowest_locked() {
  int lowest = file_ ? file_level_ : BH_LOG_PLUGIN_MISUSE + 1;
  followers_.remove_if([](const auto& f) { return f.expired(); });
  for (const auto& weak : followers_) {
    if (auto entry = weak.lock()) lowest = std::min(lowest, entry->level);
  }
  lowest_.store(lowest, std::memory_order_relaxed);
}

void Log::write(const LogRecord& record, const Session* whose) {
  if (!on(record.level)) return;
  json::object o;
  o["time_ms"] = wall_ns() / 1'000'000;
  o["level"] = json::string(log_level_name(record.level));
  o["message"] = record.message;
  if (!record.plugin.empty()) o["plugin"] = record.plugin;
  if (whose != nullptr) o["persona"] = whose->persona;
  if (auto fields = json::parse(record.fields); fields && fields->is_object()) {
    o["fields"] = std::move(*fields);
  }
  std::string text = json::print(o);
  std::vector<std::shared_ptr<Entry>> readers;
  {
    std::lock_guard lock(mutex_);
    if (file_ && record.level >= file_level_) file_->write(record.level, text);
    for (const auto& weak : followers_) {
      if (auto entry = weak.lock()) readers.push_back(std::move(entry));
    }
  }
  for (const auto& reader : readers) {
    bool theirs = reader->everything || (whose != nullptr && whose->persona == reader->persona);
    if (theirs && record.level >= reader->level) reader->follower(text);
  }
}

std::shared_ptr<void> Log::follow(int level, const Session& reader, Follower follower) {
  auto entry = std::make_shared<Entry>(
      Entry{level, reader.persona, reader.is_operator, std::move(follower)});
  std::lock_guard lock(mutex_);
  followers_.push_back(entry);
  find_lowest_locked();
  // With it goes what was logged for it alone.
  return std::shared_ptr<void>(entry.get(), [this, entry](void*) mutable {
    entry.reset();
    std::lock_guard relock(mutex_);
    find_lowest_locked();
  });
}

}  // namespace bh
