// One sandbox of a check: made with a profile, destroyed with the object, which is a check too.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend.h"

namespace bulkhead::sdk::contract {

struct Command {
  Command(std::vector<std::string> words, json::object with = {}, bool has_input = false)
      : argv(std::move(words)), options(std::move(with)), input(has_input) {}

  std::vector<std::string> argv;
  json::object options;
  bool input;       // BH_EXEC_INPUT; without feeding it, stdin waits
  std::string fed;  // fed at once, with its end
  std::string id;   // empty: a fresh one
  std::function<bh_status(int32_t, std::string_view)> sink;
};

// What one command did.
struct Ran : Answer {
  bh_exit exit{};
  std::string out, err;

  bool exited(int code) const {
    return ok() && exit.reason == BH_EXIT_CODE && exit.exit_code == code;
  }
  // It did not run: an error, or the exit code of a shell with "not_run" in the result.
  bool not_run() const;
  std::string told() const;  // all of it, for people
};

// A command that runs. Its end is waited for by the destructor too.
class Running {
 public:
  Call& call() { return flight_->call; }
  const std::string& id() const { return id_; }
  // Until that much came out on stdout; false: it did not in time.
  bool says(const std::string& text, milliseconds patience = seconds(10));
  bool done(milliseconds patience);
  Ran wait(milliseconds patience = kPatience);

 private:
  friend class Box;
  struct What;
  Backend* backend_ = nullptr;
  std::shared_ptr<Flight> flight_;
  std::shared_ptr<What> what_;
  std::string id_;
};

// The profile that checks start from: a workspace, where the schema lists one.
json::object base_profile(const std::string& workspace);

class Box {
 public:
  // Made with `profile`, or the base one. Leaves the check where that does not work.
  explicit Box(Try& t);
  Box(Try& t, json::object profile);
  ~Box();
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;

  const std::string& id() const { return id_; }
  void* handle() const { return handle_; }
  const Report& report() const { return report_; }
  const std::string& workspace() const { return workspace_; }

  Running start(const Command& command);
  Ran run(const Command& command) { return start(command).wait(); }
  Ran run(std::vector<std::string> argv) { return run(Command{std::move(argv)}); }
  Ran sh(const std::string& script);
  Ran sh(const std::string& script, json::object options);
  // The probe program, which lies in the workspace. Leaves the check as skipped where it cannot be
  // run inside.
  Ran probe(std::vector<std::string> arguments);
  Command probe_command(std::vector<std::string> arguments);
  Answer signal(const std::string& exec, int number);
  Answer inspect();
  Answer destroy();
  void release();

 private:
  Try& t_;
  std::string id_, workspace_;
  std::vector<std::shared_ptr<Flight>> flights_;  // of its commands
  void* handle_ = nullptr;
  Report report_;
  bool probe_there_ = false, destroyed_ = false;
};

// create() alone: what it answered, for checks of its refusals. The sandbox is destroyed.
struct Made {
  Answer answer;
  Report report;
  std::string wrong;  // with the report
};
Made try_create(Try& t, const json::object& profile);

}  // namespace bulkhead::sdk::contract
