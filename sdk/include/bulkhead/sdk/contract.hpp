// bulkhead/sdk/contract.hpp - what every isolation backend must do, as a suite that takes any
// plugin: link bulkhead::sdk_contract (find_package(bulkhead COMPONENTS contract)), or run the
// program bulkhead-contract, which is made of this.
#ifndef BULKHEAD_SDK_CONTRACT_HPP
#define BULKHEAD_SDK_CONTRACT_HPP

#include <functional>
#include <string>
#include <vector>

#include "result.hpp"

namespace bulkhead::sdk::contract {

struct Options {
  std::string plugin;             // a library, or a folder with plugin.json and the library
  std::string provider;           // empty: the only one of its kind in the plugin
  std::string config = "{}";      // the operator's configuration, as bh_opening has it
  std::string scratch;            // where folders are made; empty: the current folder, or /var/tmp
  std::string probe;              // bulkhead-contract-probe; empty: where it was installed
  std::vector<std::string> only;  // names, parts ("exec") or patterns with *; empty: all
  // Told before each check, so that a crash can be laid to one.
  std::function<void(const std::string& name)> starts;
};

enum class Verdict { kPassed, kFailed, kSkipped };

struct Outcome {
  std::string name;  // "exec.argv": stable, dotted, by part
  Verdict verdict = Verdict::kPassed;
  std::string note;  // why it failed or was skipped; what a passed one has to add
  double seconds = 0;
};

struct Summary {
  int passed = 0, failed = 0, skipped = 0;
};

struct Listed {
  std::string name, about;
};

// All checks, in the order in which they run.
std::vector<Listed> list();

// Loads the plugin and runs the checks, one at a time, on threads of its own; `each` is called on
// this one. While a check runs, the process's stdout and stderr are kept aside, since a plugin
// writes to neither. A failure: the plugin cannot be loaded or opened, so that nothing was tried.
//
// It adds variables named BULKHEAD_CONTRACT_* to the process's environment and loads a library that
// stays: a program for this alone is the right place. A backend that does not return is left
// behind on its thread: end such a process by _exit(), as bulkhead-contract does.
Result<Summary> run(const Options& options, const std::function<void(const Outcome&)>& each);

}  // namespace bulkhead::sdk::contract

#endif  // BULKHEAD_SDK_CONTRACT_HPP
