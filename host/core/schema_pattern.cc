#include "core/schema_pattern.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "core/patterns/patterns.h"

namespace bh::schema {

namespace {

constexpr const char* kLibrary = "libbulkhead_patterns.so";

// A symbol of ours for dladdr.
const int kAnchor = 0;

// The folder of the library or program that holds this code.
std::string folder_of_this() {
  Dl_info info;
  link_map* map = nullptr;
  std::array<char, PATH_MAX> real;
  if (::dladdr1(&kAnchor, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return {};
  // The main program's name is empty here, and argv[0] may be anything.
  const bool program = map == nullptr || map->l_name == nullptr || *map->l_name == '\0';
  if (::realpath(program ? "/proc/self/exe" : map->l_name, real.data()) == nullptr) return {};
  const std::string path(real.data());
  return path.substr(0, path.rfind('/'));
}

struct Loaded {
  const bulkhead_patterns* table = nullptr;
  std::string problem;
};

// Beside the library as built, below it as installed, or where a test finds the library's folder.
// Full paths only: no search path decides which code runs here.
Loaded load() {
  Loaded loaded;
  const std::string folder = folder_of_this();
  for (const char* place : {"/", "/bulkhead/", "/../lib/"}) {
    const std::string path = folder + place + kLibrary;
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) {
      const char* why = ::dlerror();
      // The first reason is about the place where it is expected, unless a later one is there.
      if (loaded.problem.empty() || ::access(path.c_str(), F_OK) == 0) {
        loaded.problem = why != nullptr ? why : path;
      }
      continue;
    }
    const auto entry =
        reinterpret_cast<bulkhead_patterns_entry>(::dlsym(library, BULKHEAD_PATTERNS_ENTRY));
    if (entry != nullptr) {
      loaded.table = entry();
      return loaded;
    }
    loaded.problem = path + " lacks " BULKHEAD_PATTERNS_ENTRY;
  }
  return loaded;
}

// Loaded once, kept for ever.
const Loaded& patterns() {
  static const Loaded loaded = load();
  return loaded;
}

}  // namespace

Pattern::Pattern(std::string text, void* compiled) : text_(std::move(text)), compiled_(compiled) {}

Pattern::~Pattern() { patterns().table->drop(compiled_); }

Result<std::unique_ptr<const Pattern>> Pattern::compile(std::string_view text) {
  const Loaded& loaded = patterns();
  if (loaded.table == nullptr) {
    return fail(BH_UNAVAILABLE, "patterns cannot be checked: " + loaded.problem,
                "patterns_unavailable", {{"remedy", "install Bulkhead whole, and RE2"}});
  }
  std::array<char, 256> error{};
  void* compiled = loaded.table->compile(text.data(), text.size(), error.data(), error.size());
  if (compiled == nullptr) return fail(BH_INVALID_ARGUMENT, error.data());
  return std::unique_ptr<const Pattern>(new Pattern(std::string(text), compiled));
}

bool Pattern::matches(std::string_view subject) const {
  return patterns().table->matches(compiled_, subject.data(), subject.size());
}

}  // namespace bh::schema
