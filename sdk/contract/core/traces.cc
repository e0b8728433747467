#include "traces.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "folder.h"

extern char** environ;

namespace bulkhead::sdk::contract {

namespace {

std::vector<pid_t> all_pids() {
  std::vector<pid_t> out;
  if (DIR* d = ::opendir("/proc")) {
    while (const dirent* entry = ::readdir(d)) {
      if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) != 0) {
        out.push_back(static_cast<pid_t>(std::stol(entry->d_name)));
      }
    }
    ::closedir(d);
  }
  return out;
}
std::string proc(pid_t pid, const char* name) {
  return read_file("/proc/" + std::to_string(pid) + "/" + name);
}

}  // namespace

std::string new_token() {
  static std::atomic<unsigned> count{std::random_device{}() % 1000000};
  return "contract-token-" + std::to_string(::getpid()) + "-" + std::to_string(++count) + "-end";
}

std::vector<pid_t> processes_with(const std::string& token) {
  std::vector<pid_t> out;
  for (const pid_t pid : all_pids()) {
    if (pid != ::getpid() && proc(pid, "cmdline").find(token) != std::string::npos) {
      out.push_back(pid);
    }
  }
  return out;
}
bool all_gone(const std::string& token, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!processes_with(token).empty()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}
pid_t appears(const std::string& token, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto found = processes_with(token);
    if (!found.empty()) return found.back();
    if (std::chrono::steady_clock::now() > end) return -1;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}
std::string status_field(pid_t pid, const std::string& field) {
  std::istringstream lines(proc(pid, "status"));
  std::string line;
  while (std::getline(lines, line)) {
    if (line.rfind(field + ":", 0) != 0) continue;
    const size_t at = line.find_first_not_of(" \t", field.size() + 1);
    return at == std::string::npos ? std::string() : line.substr(at);
  }
  return {};
}

std::vector<std::string> descriptors() {
  std::vector<std::string> out;
  for (int fd = 0; fd < 4096; ++fd) {
    char target[256];
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    const ssize_t n = ::readlink(path.c_str(), target, sizeof target);
    if (n > 0)
      out.push_back(std::to_string(fd) + " " + std::string(target, static_cast<size_t>(n)));
  }
  return out;
}
std::vector<pid_t> children() {
  std::vector<pid_t> out;
  const std::string me = std::to_string(::getpid());
  for (const pid_t pid : all_pids()) {
    if (status_field(pid, "PPid") == me) out.push_back(pid);
  }
  return out;
}
std::vector<pid_t> zombies() {
  std::vector<pid_t> out;
  for (const pid_t pid : children()) {
    if (status_field(pid, "State").rfind("Z", 0) == 0) out.push_back(pid);
  }
  return out;
}
std::vector<std::string> mounts_with(const std::string& word) {
  std::vector<std::string> out;
  std::ifstream lines("/proc/self/mountinfo");
  std::string line;
  while (std::getline(lines, line)) {
    if (line.find(word) != std::string::npos) out.push_back(line);
  }
  return out;
}
std::vector<std::string> groups_with(const std::string& word) {
  std::vector<std::string> out;
  std::error_code ignored;
  namespace fs = std::filesystem;
  for (fs::recursive_directory_iterator
           it("/sys/fs/cgroup", fs::directory_options::skip_permission_denied, ignored),
       end;
       it != end; it.increment(ignored)) {
    const std::string name = it->path().filename().string();
    if (it->is_directory(ignored) && name.find(word) != std::string::npos) {
      out.push_back(it->path().string());
    }
  }
  return out;
}

std::vector<std::string> process_state() {
  std::vector<std::string> out;
  std::error_code ignored;
  out.push_back("cwd " + std::filesystem::current_path(ignored).string());
  out.push_back("umask " + status_field(::getpid(), "Umask"));
  for (char** one = environ; *one != nullptr; ++one) out.push_back(std::string("env ") + *one);
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) != 0) continue;
    out.push_back("signal " + std::to_string(number) + " " +
                  std::to_string(reinterpret_cast<uintptr_t>(action.sa_handler)));
  }
  for (int resource = 0; resource < RLIM_NLIMITS; ++resource) {
    rlimit limit{};
    if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) continue;
    out.push_back("rlimit " + std::to_string(resource) + " " + std::to_string(limit.rlim_cur) +
                  " " + std::to_string(limit.rlim_max));
  }
  for (const char* field : {"Uid", "Gid", "Groups", "Seccomp", "NoNewPrivs", "CapEff"}) {
    out.push_back(std::string(field) + " " + status_field(::getpid(), field));
  }
  std::sort(out.begin(), out.end());
  return out;
}
int64_t resident_bytes() {
  const std::string text = status_field(::getpid(), "VmRSS");
  return text.empty() ? 0 : std::stoll(text) * 1024;
}

Outside run_outside(const std::vector<std::string>& argv) {
  Outside out;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return out;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  std::vector<char*> raw;
  for (const auto& arg : argv) raw.push_back(const_cast<char*>(arg.c_str()));
  raw.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, raw[0], &actions, &attributes, raw.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  ::close(ends[1]);
  char buffer[4096];
  ssize_t n = 0;
  while (error == 0 && (n = ::read(ends[0], buffer, sizeof buffer)) > 0) {
    out.out.append(buffer, static_cast<size_t>(n));
  }
  ::close(ends[0]);
  int status = 0;
  if (error == 0 && ::waitpid(pid, &status, 0) == pid) {
    out.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return out;
}

std::string join(const std::vector<std::string>& parts, const std::string& between) {
  std::string out;
  for (const auto& part : parts) out += (out.empty() ? "" : between) + part;
  return out;
}

}  // namespace bulkhead::sdk::contract
