// The mounts that the launcher makes itself before bubblewrap runs, in a mount namespace of its
// own: sources whose files the sandbox's user must own (id-mapped mounts), and everything that lies
// beneath a folder that a sandbox can write to, where a path must never be walked twice.
#pragma once

#include <bulkhead/sdk/isolation/launch_job.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/sdk/isolation/fd.hpp"

namespace launch {

namespace isolation = bulkhead::sdk::isolation;

class Stage {
 public:
  // `job` outlives the stage.
  explicit Stage(const isolation::Job& job) : job_(job) {}

  // Opens all sources and mounts the staged ones. False: error() tells what and why.
  bool build();
  // Tries each staged source without laying it anywhere: 0 or an errno, by index.
  std::vector<int> check();
  const std::string& error() const { return error_; }
  // O_PATH descriptors, by source.
  const std::vector<isolation::Fd>& sources() const { return open_; }

 private:
  bool enter();
  bool open_sources();
  bool make_folder();
  bool lay(size_t index);
  bool lay_inner(size_t index, const isolation::InnerMount& inner, int top);
  isolation::Fd tree_of(const isolation::Source& source, int fd);
  isolation::Fd hidden(bool folder);
  int users_for(uint32_t owner, uint32_t group);
  bool fail(const std::string& what);

  const isolation::Job& job_;
  std::string error_;
  std::vector<isolation::Fd> open_;
  std::map<std::pair<uint32_t, uint32_t>, isolation::Fd> users_;
};

}  // namespace launch
