// What this kernel offers to those who isolate. Looked at, never changed.
#pragma once

#include <string>
#include <vector>

namespace bh::cli {

struct KernelFact {
  std::string name;   // "user_namespaces"
  std::string value;  // "15573"; "yes", "no"
  std::string note;   // what it means where that is not plain; may be empty
};

// `root` is put before /proc and /sys, for tests.
std::vector<KernelFact> kernel_facts(const std::string& root = {});

}  // namespace bh::cli
