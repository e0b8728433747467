#include "state/process_name.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <memory>

#include "base/fd.h"

namespace bh {
namespace {

// A file of /proc, which is short and whole in one read.
std::string proc_text(const std::string& path) {
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  char buffer[1024];
  ssize_t got = ::read(file.get(), buffer, sizeof buffer);
  return got > 0 ? std::string(buffer, static_cast<std::size_t>(got)) : std::string();
}

template <class T>
bool number(std::string_view text, T& out) {
  auto done = std::from_chars(text.data(), text.data() + text.size(), out);
  return done.ec == std::errc() && done.ptr == text.data() + text.size();
}

const std::string& boot_id() {
  static const std::string* const id = [] {
    std::string text = proc_text("/proc/sys/kernel/random/boot_id");
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return std::make_unique<std::string>(std::move(text)).release();
  }();
  return *id;
}

// The state's letter and the start time, which stand behind a name that may hold anything.
bool read_stat(pid_t pid, char& state, std::uint64_t& start) {
  std::string text = proc_text("/proc/" + std::to_string(pid) + "/stat");
  std::size_t at = text.rfind(')');
  if (at == std::string::npos || at + 2 >= text.size()) return false;
  state = text[at + 2];
  // The state is field 3, the start time 22.
  for (int field = 2; field < 22; field++) {
    at = text.find(' ', at + 1);
    if (at == std::string::npos) return false;
  }
  std::size_t end = text.find(' ', at + 1);
  return number(std::string_view(text).substr(at + 1, end - at - 1), start);
}

}  // namespace

const ProcessName& ProcessName::self() {
  // Never freed: a copy of the pointer may be in use on any thread. The child of a fork is another
  // process and makes its own.
  static std::atomic<const ProcessName*> known{nullptr};
  const ProcessName* name = known.load();
  if (name != nullptr && name->pid == ::getpid()) return *name;
  auto fresh = std::make_unique<ProcessName>();
  char state = 0;
  fresh->pid = ::getpid();
  fresh->boot = boot_id();
  if (!read_stat(fresh->pid, state, fresh->start)) fresh->start = 0;
  name = fresh.release();
  known.store(name);
  return *name;
}

ProcessName ProcessName::parse(std::string_view text) {
  ProcessName out;
  std::size_t first = text.find(' ');
  if (first == std::string_view::npos) return {};
  std::size_t second = text.find(' ', first + 1);
  if (second == std::string_view::npos) return {};
  if (!number(text.substr(0, first), out.pid) || out.pid <= 0 ||
      !number(text.substr(first + 1, second - first - 1), out.start)) {
    return {};
  }
  out.boot = text.substr(second + 1);
  return out;
}

std::string ProcessName::text() const {
  if (nobody()) return {};
  return std::to_string(pid) + " " + std::to_string(start) + " " + boot;
}

bool ProcessName::alive() const {
  if (nobody() || boot != boot_id()) return false;
  char state = 0;
  std::uint64_t began = 0;
  return read_stat(pid, state, began) && began == start && state != 'Z' && state != 'X';
}

std::string ProcessName::command() const {
  if (!alive()) return {};
  std::string text = proc_text("/proc/" + std::to_string(pid) + "/comm");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace bh
