// Backends for the tests of jobs: sandboxes whose commands go on until they are done or signalled.
// "runners" has commands alone; "keepers" keeps jobs itself, and notes what it is asked to do.
#pragma once

#include <bulkhead/sdk.hpp>

#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace obedient {

bulkhead::sdk::Provides runners();

// What runs in one sandbox, by the commands' names.
class Commands {
 public:
  void add(const std::string& id);
  void remove(const std::string& id);
  // The last signal that it got; 0: none.
  int signal_of(const std::string& id);
  // With an empty name: to all. False: there is none.
  bool send(std::string_view id, int number);

 private:
  std::mutex mutex_;
  std::map<std::string, int> running_;
};

// One line of a backend's log.
class Notes {
 public:
  explicit Notes(std::string path) : path_(std::move(path)) {}
  void add(std::string_view what, std::string_view of) {
    std::lock_guard<std::mutex> lock(mutex_);
    std::ofstream(path_, std::ios::app) << what << " " << of << "\n";
  }

 private:
  const std::string path_;
  std::mutex mutex_;
};

class Runners : public bulkhead::sdk::Isolation {
 public:
  explicit Runners(const bulkhead::sdk::Opening& how)
      : state_(how.state_dir()), notes_(std::make_shared<Notes>(state_ + "/log")) {}

  bulkhead::sdk::Status plan(bulkhead::sdk::Call& call, std::string_view profile) override;
  bulkhead::sdk::Result<std::unique_ptr<bulkhead::sdk::Sandbox>> create(
      bulkhead::sdk::Call& call, std::string_view id, std::string_view profile) override;
  bulkhead::sdk::Result<std::unique_ptr<bulkhead::sdk::Sandbox>> find(bulkhead::sdk::Call& call,
                                                                      std::string_view id) override;
  bulkhead::sdk::Status destroy(bulkhead::sdk::Call& call, std::string_view id) override;

 protected:
  virtual std::unique_ptr<bulkhead::sdk::Sandbox> handle(std::shared_ptr<Commands> commands,
                                                         std::shared_ptr<Notes> notes);

 private:
  static std::shared_ptr<Commands> commands_of(std::string_view id);

  const std::string state_;
  const std::shared_ptr<Notes> notes_;
};

class Keepers final : public Runners {
 public:
  using Runners::Runners;
  static const void* extension(std::string_view id) {
    return bulkhead::sdk::extensions<bulkhead::sdk::Jobs>(id);
  }

 protected:
  std::unique_ptr<bulkhead::sdk::Sandbox> handle(std::shared_ptr<Commands> commands,
                                                 std::shared_ptr<Notes> notes) override;
};

}  // namespace obedient
