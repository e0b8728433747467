#include "base/own_folder.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>

namespace bh {
namespace {

// A symbol of ours for dladdr.
const char kAnchor = 0;

}  // namespace

std::string own_folder() {
  Dl_info info;
  link_map* map = nullptr;
  char real[PATH_MAX];
  if (::dladdr1(&kAnchor, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return {};
  // The main program's name is empty here, and argv[0] (dli_fname) may be anything.
  const bool program = map == nullptr || map->l_name == nullptr || *map->l_name == '\0';
  const char* path = program ? "/proc/self/exe" : map->l_name;
  if (::realpath(path, real) == nullptr) return {};
  const std::string found = real;
  const std::size_t slash = found.rfind('/');
  return slash == std::string::npos || slash == 0 ? "/" : found.substr(0, slash);
}

std::string own_helper(const std::string& name) {
  const std::string own = own_folder();
  if (own.empty()) return {};
  for (const char* way : {BH_LIBEXEC_FROM_LIB, "../libexec/bulkhead"}) {
    std::string path = own + "/" + way + "/" + name;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

}  // namespace bh
