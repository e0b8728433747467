// A second host on the same data, which starts a job and lives until it is told to close or killed.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

namespace bh_test {

inline bool soon(const std::function<bool()>& so) {
  for (int i = 0; i < 3000; i++) {
    if (so()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// This program again, as its hidden test case "[.owner]".
class Owner {
 public:
  Owner(const std::string& place, const std::string& script) : place_(place) {
    std::filesystem::remove(place + "/started");
    std::filesystem::remove(place + "/close");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setenv("BH_OWNER_PLACE", place.c_str(), 1);
      ::setenv("BH_OWNER_SCRIPT", script.c_str(), 1);
      ::execl("/proc/self/exe", "jobs_test", "[.owner]", static_cast<char*>(nullptr));
      ::_exit(127);
    }
    (void)soon([&] { return std::filesystem::exists(place + "/started"); });
    std::ifstream(place + "/started") >> job_ >> sandbox_;
  }
  ~Owner() { kill(); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  // Empty: it did not start.
  const std::string& job() const { return job_; }
  const std::string& sandbox() const { return sandbox_; }
  void close() {
    std::ofstream(place_ + "/close") << "x";
    wait();
  }
  void kill() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    wait();
  }

 private:
  void wait() {
    if (pid_ > 0) (void)::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  const std::string place_;
  pid_t pid_ = -1;
  std::string job_, sandbox_;
};

// Whether a process with that among its arguments runs.
inline bool runs(const std::string& word) {
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "cmdline");
    const std::string line((std::istreambuf_iterator<char>(file)), {});
    if (line.find(word) != std::string::npos) return true;
  }
  return false;
}

// A member of /proc/self/status, in KiB.
inline long status_kib(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name + ":", 0) == 0) return std::atol(line.c_str() + name.size() + 1);
  }
  return -1;
}

}  // namespace bh_test
