// The opened provider and its sandboxes, driven as a host drives them: every call on a thread of
// its own with all signals blocked, with an end to the waiting.
#pragma once

#include <bulkhead/isolation.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "call.h"
#include "folder.h"
#include "plugin.h"
#include "report.h"
#include "try.h"

namespace bulkhead::sdk::contract {

using std::chrono::milliseconds;
using std::chrono::seconds;

// How long a call may take that nobody stops; what is slower is taken for hung.
constexpr seconds kPatience{60};
// A plugin returns within 2 s of cancellation; what a loaded machine adds comes on top.
constexpr milliseconds kStopped{2500};

// One call that has been started.
struct Flight {
  explicit Flight(const bh_host* host) : call(host) {}
  Call call;
  std::promise<bh_status> promise;
  std::future<bh_status> returned = promise.get_future();
  double seconds = 0;
  bool mask_changed = false;
};

struct Answer {
  bool returned = false;  // false: it was stopped in the end and did not even then
  bh_status status = BH_UNKNOWN;
  double seconds = 0;
  Said said;

  bool ok() const { return returned && status == BH_OK; }
  bool not_offered() const { return returned && status == BH_UNIMPLEMENTED; }
  // For people: the code and what was said.
  std::string text() const;
  std::string reason() const;
};

// What was seen beside the checks, for the checks of manners.
struct Observed {
  std::vector<std::string> before;     // process_state() before the plugin was loaded
  std::vector<std::string> inherited;  // descriptors that were open then
  std::vector<std::string> misuse;     // by check
  std::vector<std::string> written;    // to stdout or stderr, by check
};

class Backend {
 public:
  Observed observed;

  Backend(const Plugin& plugin, const Host& host, std::string config, std::string scratch,
          std::string probe);
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  const Plugin& plugin() const { return plugin_; }
  const bh_isolation& table() const { return plugin_.table; }
  void* self() const { return self_; }
  const std::string& owner() const { return owner_; }
  const std::string& state() const { return state_; }
  const std::string& scratch() const { return scratch_.path(); }
  const std::string& probe() const { return probe_; }

  // The provider's own functions. open() takes the place of the one that is open.
  Answer probe_here();
  Answer open();
  void close();
  // A second opening of the same owner and state folder, as another process has.
  Answer open_second(std::shared_ptr<void>& out);

  // Any call: `f` gets what it needs by value, since it may outlive the check.
  using Function = std::function<bh_status(bh_call*)>;
  std::shared_ptr<Flight> fly() const;
  static void start(const std::shared_ptr<Flight>& flight, Function f);
  Answer land(const std::shared_ptr<Flight>& flight, milliseconds patience = kPatience);
  Answer call(Function f, milliseconds patience = kPatience);

  Answer plan(const json::object& profile);
  Answer list();
  Answer destroy(const std::string& id);
  std::string new_id();

  // What calls did against the rules so far; taken away by asking.
  std::vector<std::string> misuse();
  // A call never came back: nothing may be closed.
  bool abandoned() const { return abandoned_; }

 private:
  const Plugin& plugin_;
  const Host& host_;
  const std::string config_;
  Folder scratch_;
  const std::string probe_;
  std::string owner_, state_;
  void* self_ = nullptr;
  bool opened_ = false, abandoned_ = false;
  int ids_ = 0;
  std::vector<std::string> misuse_;
  std::vector<std::shared_ptr<Flight>> kept_;
};

}  // namespace bulkhead::sdk::contract
