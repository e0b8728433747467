#include "images/worker/report.h"

#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <string>

namespace bh::unpack {
namespace {

constexpr std::int64_t kEvery = 200'000'000;

void say(const json::object& line) {
  const std::string text = json::print(line) + "\n";
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(kReportFd, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) ::_exit(3);
    at += static_cast<std::size_t>(n);
  }
}

}  // namespace

void report_progress(const Counts& counts) {
  static std::int64_t next = 0;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t ns = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  if (ns < next) return;
  next = ns + kEvery;
  say({{"entries", counts.entries}, {"bytes", counts.bytes}});
}

void report_done(const json::object& result) { say({{"done", result}}); }

void report_error(const Error& error) {
  json::object details;
  if (auto told = json::parse_object(error.details)) details = std::move(*told);
  say({{"error",
        {{"code", error.code}, {"message", error.message}, {"details", std::move(details)}}}});
}

}  // namespace bh::unpack
