// bulkhead/sdk/isolation/memo.hpp - that a sandbox could be started here lately, kept in the provider's
// state folder: a process that runs one command would else start two.
#ifndef BULKHEAD_SDK_ISOLATION_MEMO_HPP
#define BULKHEAD_SDK_ISOLATION_MEMO_HPP

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "../json.hpp"
#include "../text.hpp"
#include "fd.hpp"

namespace bulkhead::sdk::isolation {

namespace detail {

constexpr int64_t kMemoSeconds = 600;

inline int64_t seconds_now() {
  timespec t{};
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return t.tv_sec;
}

inline void add_program(std::ostream& key, const std::string& path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) != 0) return;
  key << path << ' ' << st.st_dev << ' ' << st.st_ino << ' ' << st.st_mode << ' ' << st.st_uid << ' '
      << st.st_size << ' ' << st.st_mtim.tv_sec << '.' << st.st_mtim.tv_nsec << ' '
      << st.st_ctim.tv_sec << '.' << st.st_ctim.tv_nsec << '\n';
}

// All that this program can look at of what decides whether a sandbox may start.
inline std::string memo_key(const std::vector<std::string>& programs) {
  std::ostringstream key;
  for (const auto& program : programs) add_program(key, program);
  key << ::geteuid() << ' ' << ::getegid() << '\n';
  for (const char* file :
       {"/proc/sys/kernel/random/boot_id", "/proc/sys/user/max_user_namespaces",
        "/proc/sys/user/max_mnt_namespaces", "/proc/sys/user/max_pid_namespaces",
        "/proc/sys/user/max_net_namespaces", "/proc/sys/kernel/unprivileged_userns_clone",
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "/proc/self/attr/current",
        "/proc/self/uid_map"}) {
    std::string text;
    (void)read_file(file, text, 4096);
    key << text << '\n';
  }
  for (const char* space : {"/proc/self/ns/user", "/proc/self/ns/mnt", "/proc/self/ns/pid"}) {
    char text[64];
    const ssize_t n = ::readlink(space, text, sizeof text);
    key << std::string(text, n > 0 ? static_cast<size_t>(n) : 0) << '\n';
  }
  std::string status;
  (void)read_file("/proc/self/status", status, 65536);
  std::istringstream lines(status);
  for (std::string line; std::getline(lines, line);) {
    for (const char* name : {"CapEff:", "CapBnd:", "NoNewPrivs:", "Seccomp:", "Seccomp_filters:"}) {
      if (line.rfind(name, 0) == 0) key << line << '\n';
    }
  }
  return key.str();
}

}  // namespace detail

// Holds for the programs, the machine's boot and settings, and the rights that it was made under;
// and for a few minutes, since not all that can refuse a sandbox can be looked at. [any]
class Memo {
 public:
  Memo() = default;
  // `folder`: empty: nothing is kept. `programs`: what a sandbox is started with.
  Memo(const std::string& folder, const std::vector<std::string>& programs) {
    if (folder.empty()) return;
    path_ = folder + "/.started";
    key_ = to_utf8(detail::memo_key(programs));
  }

  // True: a sandbox started here lately, and `found` is what was found out then.
  bool recall(json::object& found) const {
    std::string text;
    if (path_.empty() || !read_file(path_, text, 65536)) return false;
    auto o = json::parse_object(text);
    if (!o || json::text(*o, "key") != key_) return false;
    const int64_t age = detail::seconds_now() - json::integer(*o, "at", -1);
    if (age < 0 || age > detail::kMemoSeconds) return false;
    const auto* kept = json::child(*o, "found");
    found = kept != nullptr ? *kept : json::object();
    return true;
  }
  // After a sandbox has started.
  void keep(json::object found) const {
    if (path_.empty()) return;
    const std::string text = json::print(
        json::object({{"key", key_}, {"at", detail::seconds_now()}, {"found", std::move(found)}}));
    // Whole or not at all, also when several processes do so; one that cannot be written costs time.
    std::string next = path_ + "-XXXXXX";
    const Fd fd(::mkostemp(next.data(), O_CLOEXEC));
    if (!fd) return;
    if (!write_all(fd.get(), text) || ::rename(next.c_str(), path_.c_str()) != 0) {
      ::unlink(next.c_str());
    }
  }
  // After one has not.
  void forget() const {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

 private:
  std::string path_, key_;
};

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_MEMO_HPP
