// The plugin under test: its library, its descriptor, the provider and its table, read as a host
// reads them.
#pragma once

#include <bulkhead/isolation.h>

#include <mutex>
#include <string>
#include <vector>

#include "bulkhead/sdk/json.hpp"

namespace bulkhead::sdk::contract {

// The host's side as the plugin sees it. Outlives everything.
class Host {
 public:
  Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  const bh_host* raw() const { return &raw_.host; }

 private:
  struct Raw {
    bh_host host;
    Host* self;
  };
  static const bh_host_api& api();
  Raw raw_;
};

// A JSON Schema of the ABI's subset, as far as the suite asks: which keys and words it lists.
class Schema {
 public:
  Schema() = default;
  explicit Schema(std::string_view text);
  bool valid() const { return valid_; }
  // "limits.pids", "files" (a list), "files.access" (a key of its items).
  bool lists(std::string_view path) const { return find(path) != nullptr; }
  // Listed, and the word is not ruled out by an enumeration.
  bool allows(std::string_view path, std::string_view word) const;
  // An object that takes any key: a host could not decide what to refuse.
  bool open() const;
  std::vector<std::string> keys() const;

 private:
  const json::object* find(std::string_view path) const;
  json::object root_;
  bool valid_ = false;
};

struct Plugin {
  std::string library;    // the file
  json::object manifest;  // empty: none lies beside it
  const bh_plugin* descriptor = nullptr;
  const bh_provider* provider = nullptr;
  bh_isolation table{};  // what both sides know of it, the rest zero
  Schema profile, exec;
  json::object capabilities;

  bool is(std::string_view capability) const { return json::boolean(capabilities, capability); }
};

// Loads it and finds the provider. The library stays for good.
Result<Plugin> load(const std::string& path, const std::string& provider, const Host& host);

}  // namespace bulkhead::sdk::contract
