// Drives an isolation plugin's tables as a host does, from its built library: for the tests of the
// backends and the escape tests.
#pragma once

#include <bulkhead/isolation.h>
#include <bulkhead/sdk/testing/fake_host.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bh_test {

namespace testing = bulkhead::sdk::testing;

// What one command did.
struct Ran {
  bh_status status = BH_UNKNOWN;
  std::string message, details, result;
  std::string out, err;
  bh_exit exit{};
  bool input_ended = false;
  double seconds = 0;
};

struct Command {
  std::vector<std::string> argv;
  std::string options = "{}";
  std::string input;
  bool has_input = false;
  std::string id;  // empty: a fresh one
  // Called with the running call, on a thread of its own; its end is waited for.
  std::function<void(testing::FakeCall&)> beside;
};

// A folder for tests that is neither /tmp nor /var/tmp, which sandboxes have of their own.
std::string scratch();

// A temporary folder that goes with the object.
class Folder {
 public:
  explicit Folder(const std::string& below = scratch());
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }
  std::string make(const std::string& name) const;  // a folder in it
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};
std::string read(const std::string& path);
bool exists(const std::string& path);

// Whether the plugin of that provider was built. One that was not cannot be opened.
bool is_built(const std::string& provider);

// One opened provider, with a state folder of its own.
class Backend {
 public:
  // `provider`: the last part of a plugin's name, as "bwrap" in isolation_bwrap.
  explicit Backend(const std::string& provider, const std::string& state = {},
                   const std::string& config = "{}");
  ~Backend();

  const bh_isolation& table() const;
  void* self() const;
  const std::string& state() const { return state_; }

  // Empty: it works here, with folders below scratch(); else why not.
  std::string unavailable() const;

  bh_status create(const std::string& id, const std::string& profile);
  bh_status find(const std::string& id);
  bh_status destroy(const std::string& id);
  std::string plan(const std::string& profile);
  std::vector<std::string> list();
  Ran run(const std::string& id, const Command& command);
  Ran sh(const std::string& id, const std::string& script, const std::string& options = "{}");
  bh_status signal(const std::string& id, const std::string& exec, int number);
  void release(const std::string& id);
  // For tables beside the main one.
  void* handle(const std::string& id) const;
  const bh_host* host() const;
  // The last call's fault and report.
  std::string message, details, report;

 private:
  void note(const testing::FakeCall& call);
  struct Inside;
  std::unique_ptr<Inside> in_;
  std::string state_;
};

// "enforced", "partial", "unsupported", or empty where the report has no such line.
std::string rule_status(const std::string& report, const std::string& rule);

// What the report says beside that; empty where it says nothing.
std::string rule_reason(const std::string& report, const std::string& rule);

std::string quote(const std::string& text);  // as a JSON text

}  // namespace bh_test
