// bulkhead/sdk/isolation/own_files.hpp - the files that a backend runs from: who may write where they
// lie decides what runs next, outside of any sandbox.
#ifndef BULKHEAD_SDK_ISOLATION_OWN_FILES_HPP
#define BULKHEAD_SDK_ISOLATION_OWN_FILES_HPP

#include <dlfcn.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../call.hpp"
#include "paths.hpp"

namespace bulkhead::sdk::isolation {

// This process's program, the library that hosts us, the plugin that holds `here`, and its helper.
inline std::vector<std::string> own_files(Call& call, const void* here, const std::string& helper) {
  std::vector<std::string> out = {canonical("/proc/self/exe"), helper};
  for (const void* address : {here, reinterpret_cast<const void*>(call.raw()->api->result)}) {
    Dl_info info{};
    if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr) continue;
    out.push_back(canonical(info.dli_fname));
  }
  out.erase(std::remove(out.begin(), out.end(), std::string()), out.end());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_OWN_FILES_HPP
