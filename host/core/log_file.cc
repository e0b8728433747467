#define FMT_HEADER_ONLY
#define SPDLOG_NO_TLS
#define SPDLOG_NO_ATOMIC_LEVELS
#include "core/log_file.h"

#include <fcntl.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>

#include <exception>
#include <utility>

namespace bh {

struct LogFile::Inside {
  std::shared_ptr<spdlog::logger> logger;
};

LogFile::LogFile(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
LogFile::~LogFile() = default;

Result<std::unique_ptr<LogFile>> LogFile::open(const std::string& path) {
  try {
    spdlog::file_event_handlers handlers;
    // spdlog opens without CLOEXEC where it is not told; a child must not get the log.
    handlers.after_open = [](const spdlog::filename_t&, std::FILE* file) {
      ::fcntl(::fileno(file), F_SETFD, FD_CLOEXEC);
    };
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path, false, handlers);
    auto inside = std::make_unique<Inside>();
    // Not registered: spdlog's registry would be one more thing that all hosts of a process share.
    inside->logger = std::make_shared<spdlog::logger>("bulkhead", std::move(sink));
    inside->logger->set_level(spdlog::level::trace);
    inside->logger->flush_on(spdlog::level::warn);
    return std::unique_ptr<LogFile>(new LogFile(std::move(inside)));
  } catch (const std::exception& e) {
    return fail(BH_FAILED_PRECONDITION,
                "the log file cannot be opened: " + std::string(e.what()) +
                    "; choose another with log.file",
                "log_file", {{"field", "/log/file"}});
  }
}

void LogFile::write(int level, const std::string& line) {
  static constexpr spdlog::level::level_enum kLevels[] = {
      spdlog::level::trace, spdlog::level::debug, spdlog::level::info,
      spdlog::level::warn,  spdlog::level::err,   spdlog::level::critical,
      spdlog::level::critical};
  std::size_t at = level < 0 ? 0 : static_cast<std::size_t>(level > 6 ? 6 : level);
  inside_->logger->log(kLevels[at], spdlog::string_view_t(line));
}

}  // namespace bh
