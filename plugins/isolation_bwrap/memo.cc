#include "memo.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bulkhead/sdk/isolation/fd.hpp>
#include <bulkhead/sdk/json.hpp>
#include <cstdio>
#include <sstream>

namespace bwrap {

namespace isolation = sdk::isolation;
namespace json = sdk::json;
using isolation::Fd;

namespace {

constexpr int64_t kSeconds = 600;

int64_t seconds_now() {
  timespec t{};
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return t.tv_sec;
}

void add_program(std::ostream& key, const std::string& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0) return;
  key << path << ' ' << st.st_dev << ' ' << st.st_ino << ' ' << st.st_mode << ' ' << st.st_uid << ' '
      << st.st_size << ' ' << st.st_mtim.tv_sec << '.' << st.st_mtim.tv_nsec << ' '
      << st.st_ctim.tv_sec << '.' << st.st_ctim.tv_nsec << '\n';
}

// All that this program can look at of what decides whether a sandbox may start.
std::string key_of(const std::string& program, const std::string& helper) {
  std::ostringstream key;
  add_program(key, program);
  add_program(key, helper);
  key << ::geteuid() << ' ' << ::getegid() << '\n';
  for (const char* file :
       {"/proc/sys/kernel/random/boot_id", "/proc/sys/user/max_user_namespaces",
        "/proc/sys/user/max_mnt_namespaces", "/proc/sys/user/max_pid_namespaces",
        "/proc/sys/user/max_net_namespaces", "/proc/sys/kernel/unprivileged_userns_clone",
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "/proc/self/attr/current",
        "/proc/self/uid_map"}) {
    std::string text;
    (void)isolation::read_file(file, text, 4096);
    key << text << '\n';
  }
  for (const char* space : {"/proc/self/ns/user", "/proc/self/ns/mnt", "/proc/self/ns/pid"}) {
    char text[64];
    const ssize_t n = ::readlink(space, text, sizeof text);
    key << std::string(text, n > 0 ? static_cast<size_t>(n) : 0) << '\n';
  }
  std::string status;
  (void)isolation::read_file("/proc/self/status", status, 65536);
  std::istringstream lines(status);
  for (std::string line; std::getline(lines, line);) {
    for (const char* name : {"CapEff:", "CapBnd:", "NoNewPrivs:", "Seccomp:", "Seccomp_filters:"}) {
      if (line.rfind(name, 0) == 0) key << line << '\n';
    }
  }
  return key.str();
}

}  // namespace

Memo::Memo(const std::string& folder, const std::string& program, const std::string& helper) {
  if (folder.empty()) return;
  path_ = folder + "/.started";
  key_ = sdk::to_utf8(key_of(program, helper));
}

bool Memo::recall(Features& features) const {
  std::string text;
  if (path_.empty() || !isolation::read_file(path_, text, 65536)) return false;
  auto o = json::parse_object(text);
  if (!o || json::text(*o, "key") != key_) return false;
  const int64_t age = seconds_now() - json::integer(*o, "at", -1);
  if (age < 0 || age > kSeconds) return false;
  features.version = json::text(*o, "version");
  features.options.clear();
  const auto* options = json::list(*o, "options");
  for (const auto& v : options != nullptr ? *options : json::array()) {
    if (v.is_string()) features.options.emplace(json::view(v.get_string()));
  }
  return true;
}

void Memo::keep(const Features& features) const {
  if (path_.empty()) return;
  json::array options;
  for (const auto& option : features.options) options.emplace_back(option);
  const std::string text = json::print(json::object(
      {{"key", key_}, {"at", seconds_now()}, {"version", features.version}, {"options", options}}));
  // Whole or not at all, also when several processes do so; one that cannot be written costs time.
  std::string next = path_ + "-XXXXXX";
  const Fd fd(::mkostemp(next.data(), O_CLOEXEC));
  if (!fd) return;
  if (!isolation::write_all(fd.get(), text) || ::rename(next.c_str(), path_.c_str()) != 0) {
    ::unlink(next.c_str());
  }
}

void Memo::forget() const {
  if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace bwrap
