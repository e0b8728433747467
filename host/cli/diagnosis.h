// What `doctor` finds out, before it is laid out for people or machines.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "cli/kernel_facts.h"
#include "cli/setup.h"

namespace bh::cli {

struct Check {
  std::string name;
  std::string status;  // "ok", "note", "bad"
  std::string message;
  std::string remedy;
};

struct Diagnosis {
  std::string version;
  std::string abi;
  Setup setup;
  boost::json::object host;     // the result of host.inspect; empty where it failed
  boost::json::object plugins;  // of plugin.list
  boost::json::object plan;     // of sandbox.plan
  std::vector<KernelFact> kernel;
  std::vector<Check> checks;
  bool ready = false;     // commands can run in isolation
  std::string next_step;  // where they cannot
};

// Each adds its check, from what is already in `d`.
void check_config(Diagnosis& d);
void check_data_root(Diagnosis& d, const std::string& path);
void check_workspace_setting(Diagnosis& d);
void check_plugins(Diagnosis& d);
void check_isolation(Diagnosis& d);

// Sets ready and next_step from the checks.
void conclude(Diagnosis& d);

struct Backend {
  std::string id;
  std::string plugin;
  std::string status;  // of its probe, or of its plugin
  std::string message;
  std::string remedy;
};
std::vector<Backend> backends_of(const boost::json::object& plugins, const Named& named);

boost::json::object to_json(const Diagnosis& d);
std::string to_text(const Diagnosis& d);

}  // namespace bh::cli
