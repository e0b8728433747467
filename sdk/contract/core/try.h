// One attempt at one check: what it expects, and how it is left early.
#pragma once

#include <string>
#include <vector>

namespace bulkhead::sdk::contract {

class Backend;

// Leaves a check. Caught by the suite alone.
struct Left {
  enum class Why { kFailed, kSkipped } why;
  std::string reason;
};

class Try {
 public:
  explicit Try(Backend& under) : backend(under) {}

  Backend& backend;

  // Goes on where it does not hold.
  void expect(bool good, const std::string& why) {
    if (!good && failures_.size() < 8) failures_.push_back(why);
  }
  template <class Got, class Want>
  void equal(const std::string& what, const Got& got, const Want& want) {
    if (!(got == want)) expect(false, what + " is " + show(got) + " in place of " + show(want));
  }
  // Leaves the check where it does not hold.
  void require(bool good, const std::string& why) {
    if (!good) fail(why);
  }
  [[noreturn]] static void fail(const std::string& why) { throw Left{Left::Why::kFailed, why}; }
  [[noreturn]] static void skip(const std::string& why) { throw Left{Left::Why::kSkipped, why}; }
  // Shown with a check that passed.
  void note(const std::string& what) { note_ += (note_.empty() ? "" : "; ") + what; }

  const std::vector<std::string>& failures() const { return failures_; }
  const std::string& noted() const { return note_; }

 private:
  static std::string show(const std::string& text);
  static std::string show(const char* text) { return show(std::string(text)); }
  static std::string show(bool yes) { return yes ? "true" : "false"; }
  template <class Number>
  static std::string show(const Number& number) {
    return std::to_string(number);
  }

  std::vector<std::string> failures_;
  std::string note_;
};

}  // namespace bulkhead::sdk::contract
