// The mounts that the launcher makes itself before bubblewrap runs, in a mount namespace of its
// own: sources whose files the sandbox's user must own (id-mapped mounts), and everything that lies
// beneath a folder that a sandbox can write to, where a path must never be walked twice.
#pragma once

#include <bulkhead/sdk/isolation/inner_mounts.hpp>
#include <bulkhead/sdk/isolation/launch_job.hpp>
#include <string>
#include <vector>

namespace launch {

namespace isolation = bulkhead::sdk::isolation;

class Stage : private isolation::InnerMounts::Means {
 public:
  // `job` outlives the stage.
  explicit Stage(const isolation::Job& job) : job_(job) { uid = job.uid, gid = job.gid; }

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
  isolation::Fd tree_of(const isolation::Source& source, int fd);
  isolation::Fd mask(bool folder) override;
  isolation::Fd tree(uint32_t source) override {
    return isolation::copy_tree(open_[source].get(), isolation::kTreeRecursive);
  }
  bool is_folder(uint32_t source) override { return isolation::is_folder(open_[source].get()); }
  std::string name(uint32_t source) override { return job_.sources[source].path; }
  bool fail(const std::string& what);

  const isolation::Job& job_;
  std::string error_;
  std::vector<isolation::Fd> open_;
  isolation::MountUsers users_;
};

}  // namespace launch
