// The checks by name, and what runs them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "try.h"

namespace bulkhead::sdk::contract {

struct Check {
  std::string name, about;
  std::function<void(Try&)> run;
};

class Suite {
 public:
  void add(std::string name, std::string about, std::function<void(Try&)> run) {
    checks_.push_back({std::move(name), std::move(about), std::move(run)});
  }
  const std::vector<Check>& checks() const { return checks_; }

 private:
  std::vector<Check> checks_;
};

// One part per file in parts/.
void add_description(Suite&);
void add_life_cycle(Suite&);
void add_exec(Suite&);
void add_streams(Suite&);
void add_stops(Suite&);
void add_ends(Suite&);
void add_profile(Suite&);
void add_places(Suite&);
void add_file_rules(Suite&);
void add_network(Suite&);
void add_limits(Suite&);
void add_identity(Suite&);
void add_guarantees(Suite&);
void add_files(Suite&);
void add_state(Suite&);
void add_jobs(Suite&);
void add_images(Suite&);
void add_threads(Suite&);
void add_manners(Suite&);

}  // namespace bulkhead::sdk::contract
