#include "runners.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace sdk = bulkhead::sdk;

namespace obedient {
namespace {

constexpr int kKill = 9;
constexpr int kTerminate = 15;
constexpr int kContinue = 18;
constexpr int64_t kTick = 10'000'000;

sdk::Status not_there() {
  return sdk::failure(BH_NOT_FOUND, "there is no program \"absent\"", "program_not_found");
}

// print TEXT…  to stdout and stderr in turn, exit 3
// later TEXT   prints after a while, exit 0
// spill N      N pieces of 64 KiB, to stdout and stderr in turn
// ticks        counts until a signal; hold says nothing until one; stubborn takes SIGKILL alone
// absent       cannot be run
class Runner : public sdk::Sandbox {
 public:
  explicit Runner(std::shared_ptr<Commands> commands) : commands_(std::move(commands)) {}

  sdk::Status exec(sdk::Call& call, const sdk::Exec& what, sdk::Exit& out) override {
    const std::string program(what.arg(0));
    const std::string id(what.id());
    if (program == "absent") return not_there();
    commands_->add(id);
    sdk::Status done = run(call, what, program, out);
    commands_->remove(id);
    return done;
  }
  sdk::Status signal(sdk::Call&, std::string_view exec, int32_t number) override {
    if (commands_->send(exec, number) || exec.empty()) return {};
    return sdk::failure(BH_NOT_FOUND, "no such command runs", "no_command");
  }

 protected:
  Commands& commands() { return *commands_; }

 private:
  sdk::Status run(sdk::Call& call, const sdk::Exec& what, const std::string& program, sdk::Exit& out) {
    const bool two = program == "print" || program == "spill";
    const int pieces = program == "spill" ? std::atoi(std::string(what.arg(1)).c_str())
                                          : static_cast<int>(what.argc()) - 1;
    for (int n = 0; two && n < pieces; n++) {
      const int stream = n % 2 == 0 ? BH_STREAM_STDOUT : BH_STREAM_STDERR;
      auto sent = program == "spill" ? call.emit(stream, std::string(65536, 'x'))
                                     : call.emit(stream, what.arg(static_cast<size_t>(n) + 1));
      if (!sent) return sent;
    }
    if (two) {
      out.exited(program == "print" ? 3 : 0);
      return {};
    }
    for (int n = 0;; n++) {
      if (program == "ticks") {
        auto sent = call.emit(BH_STREAM_STDOUT, std::to_string(n) + "\n");
        if (!sent) return sent;
      }
      if (program == "later" && n == 20) {
        out.exited(0);
        return call.emit(BH_STREAM_STDOUT, what.arg(1));
      }
      if (bh_status st = call.raw()->api->wait(call.raw(), kTick)) {
        out.reason = BH_EXIT_STOPPED;
        return sdk::Status::from(st);
      }
      const int number = commands_->signal_of(std::string(what.id()));
      if (number == kKill || (number == kTerminate && program != "stubborn")) {
        out.killed(number);
        out.reason = BH_EXIT_STOPPED;
        return {};
      }
    }
  }

  const std::shared_ptr<Commands> commands_;
};

class Keeper final : public Runner, public sdk::Jobs {
 public:
  Keeper(std::shared_ptr<Commands> commands, std::shared_ptr<Notes> notes)
      : Runner(std::move(commands)), notes_(std::move(notes)) {}

  sdk::Status start(sdk::Call&, const sdk::Exec& what) override {
    if (what.arg(0) == "absent") return not_there();
    if (what.arg(0) == "print") {
      return sdk::failure(BH_UNIMPLEMENTED, "this one is run, not kept", "no_function");
    }
    notes_->add("start", what.id());
    commands().add(std::string(what.id()));
    return {};
  }
  sdk::Status attach(sdk::Call& call, std::string_view given, int64_t, uint32_t flags,
                     sdk::Exit& out) override {
    const std::string id(given);
    notes_->add("attach", std::to_string(flags));
    auto sent = call.emit(BH_STREAM_STDOUT, "kept by the box");
    if (!sent) return sent;
    int number = 0;
    while ((number = commands().signal_of(id)) == 0) {
      if (bh_status st = call.raw()->api->wait(call.raw(), kTick)) return sdk::Status::from(st);
    }
    commands().remove(id);
    out.killed(number);
    return call.result(R"({"next":20,"skipped":5,"running":false})");
  }
  sdk::Status jobs(sdk::Call&) override { return {}; }
  sdk::Status forget(sdk::Call&, std::string_view id) override {
    notes_->add("forget", id);
    return {};
  }
  sdk::Status signal(sdk::Call& call, std::string_view exec, int32_t number) override {
    if (number != kContinue) notes_->add("signal", std::to_string(number));
    return Runner::signal(call, exec, number);
  }

 private:
  const std::shared_ptr<Notes> notes_;
};

sdk::Status report(sdk::Call& call) {
  return call.result(R"({"rules":[{"rule":"network.mode","status":"enforced"}]})");
}

}  // namespace

void Commands::add(const std::string& id) {
  std::lock_guard<std::mutex> lock(mutex_);
  running_[id] = 0;
}

void Commands::remove(const std::string& id) {
  std::lock_guard<std::mutex> lock(mutex_);
  running_.erase(id);
}

int Commands::signal_of(const std::string& id) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto at = running_.find(id);
  return at == running_.end() ? 0 : at->second;
}

bool Commands::send(std::string_view id, int number) {
  std::lock_guard<std::mutex> lock(mutex_);
  bool reached = false;
  for (auto& one : running_) {
    if (!id.empty() && one.first != id) continue;
    reached = true;
    // What ends a command is not lost to what does not.
    if (number == kKill || number == kTerminate) one.second = number;
  }
  return reached;
}

sdk::Provides runners() {
  return sdk::Provides()
      .title("Runners")
      .profile_schema(
          R"({"type":"object","additionalProperties":false,"properties":{"network":{"type":"object","additionalProperties":false,"properties":{"mode":{"enum":["off"]}}}}})")
      .exec_schema(R"({"type":"object","additionalProperties":false,"properties":{"cwd":{"type":"string"}}})");
}

sdk::Status Runners::plan(sdk::Call& call, std::string_view) { return report(call); }

sdk::Result<std::unique_ptr<sdk::Sandbox>> Runners::create(sdk::Call& call, std::string_view id,
                                                           std::string_view) {
  std::ofstream(state_ + "/" + std::string(id) + ".box") << "x";
  auto told = report(call);
  if (!told) return std::move(told).failure();
  return handle(commands_of(id), notes_);
}

sdk::Result<std::unique_ptr<sdk::Sandbox>> Runners::find(sdk::Call& call, std::string_view id) {
  if (!std::ifstream(state_ + "/" + std::string(id) + ".box")) {
    return sdk::failure(BH_NOT_FOUND, "it is gone", "no_sandbox");
  }
  auto told = report(call);
  if (!told) return std::move(told).failure();
  return handle(commands_of(id), notes_);
}

sdk::Status Runners::destroy(sdk::Call&, std::string_view id) {
  (void)std::remove((state_ + "/" + std::string(id) + ".box").c_str());
  (void)commands_of(id)->send("", kKill);
  return {};
}

std::unique_ptr<sdk::Sandbox> Runners::handle(std::shared_ptr<Commands> commands,
                                              std::shared_ptr<Notes>) {
  return std::make_unique<Runner>(std::move(commands));
}

std::shared_ptr<Commands> Runners::commands_of(std::string_view id) {
  // Of all hosts in this process: a real backend reaches what another of its own runs, too.
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<Commands>> all;
  std::lock_guard<std::mutex> lock(mutex);
  auto& commands = all[std::string(id)];
  if (!commands) commands = std::make_shared<Commands>();
  return commands;
}

std::unique_ptr<sdk::Sandbox> Keepers::handle(std::shared_ptr<Commands> commands,
                                              std::shared_ptr<Notes> notes) {
  return std::make_unique<Keeper>(std::move(commands), std::move(notes));
}

}  // namespace obedient
