// What can be seen on the host of what a sandbox left or changed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace bulkhead::sdk::contract {

// A word that no other process has in its arguments.
std::string new_token();

// Processes whose arguments hold `token`.
std::vector<pid_t> processes_with(const std::string& token);
// Waits until none is left; false: some stayed.
bool all_gone(const std::string& token, std::chrono::milliseconds patience);
// Until one is there; its number, or -1.
pid_t appears(const std::string& token, std::chrono::milliseconds patience);
// A field of /proc/PID/status, "Uid" say; empty: none.
std::string status_field(pid_t pid, const std::string& field);

// This process: numbers of its open descriptors with what they are, its children, its threads.
std::vector<std::string> descriptors();
std::vector<pid_t> children();
std::vector<pid_t> zombies();
// Lines of its mount table, and control groups, that have `word` in them.
std::vector<std::string> mounts_with(const std::string& word);
std::vector<std::string> groups_with(const std::string& word);
// What a plugin leaves alone: cwd, umask, environment, signal dispositions, resource limits, in
// words to compare.
std::vector<std::string> process_state();
int64_t resident_bytes();

// A program run on the host, outside of any sandbox: for positive controls.
struct Outside {
  int code = -1;  // 128 + signal where it was killed
  std::string out;
};
Outside run_outside(const std::vector<std::string>& argv);

std::string join(const std::vector<std::string>& parts, const std::string& between = "; ");

}  // namespace bulkhead::sdk::contract
