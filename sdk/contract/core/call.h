// One call into the plugin, as a host makes it: input that comes when the check wants, output that
// is counted, kept up to a bound or handed on, and a note of every rule that the plugin breaks.
#pragma once

#include <bulkhead/plugin.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::sdk::contract {

// What came out of a call.
struct Said {
  std::string result;
  int results = 0;
  std::vector<std::string> items;
  std::map<int32_t, std::string> kept;  // the first kKept bytes of each stream
  std::map<int32_t, uint64_t> bytes;    // all of them
  uint64_t received = 0;                // of the input
  bool input_ended = false;             // by the plugin
  bool failed = false;
  bh_status code = BH_OK;
  std::string message, details;
};

// The plugin's side from any thread, the check's side too.
class Call {
 public:
  static constexpr size_t kKept = size_t{16} << 20;

  explicit Call(const bh_host* host);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  bh_call* raw() { return &raw_.call; }
  Said said() const;
  uint64_t bytes(int32_t stream) const;
  std::string kept(int32_t stream) const;

  // Before the call starts: in place of keeping. What it answers, emit() answers.
  std::function<bh_status(int32_t, std::string_view)> sink;
  // Further input, and its end. Without end_of_input() the plugin waits for more.
  void feed(std::string bytes);
  void end_of_input();
  // Input of that many bytes, made as it is received.
  void feed_pattern(uint64_t total);
  static char pattern(uint64_t at) { return static_cast<char>(at * 31 + (at >> 12)); }

  void stop(bh_status code);
  // The function has returned: whoever uses the call after that breaks a rule.
  void over(bh_status returned);
  // Rules of the ABI that it broke; each is told once.
  std::vector<std::string> take_misuse();

 private:
  struct Raw {
    bh_call call;
    Call* self;
  };
  static Call& of(bh_call* call) { return *reinterpret_cast<Raw*>(call)->self; }
  static const bh_call_api& api();
  template <class Edit>
  bh_status take(const char* function, Edit edit);
  void live(const char* function);
  void complain(std::string what);
  void set_readable();

  Raw raw_;
  mutable std::mutex m_;
  std::condition_variable changed_;
  Said said_;
  std::vector<std::string> misuse_;
  std::string input_;
  uint64_t pattern_at_ = 0, pattern_total_ = 0;
  bool input_over_ = false, over_ = false;
  bh_status stop_ = BH_OK;
  int stop_fd_, input_fd_;
};

}  // namespace bulkhead::sdk::contract
