// plugin.json: what a plugin says about itself before any of its code runs. Every key is checked,
// unknown ones are refused by name.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "loader/finding.h"

namespace bh {

struct DeclaredProvider {
  std::string interface;  // "bh.isolation/1"
  std::string id;         // "bwrap"
  std::string title;
  boost::json::object capabilities;
};

struct Manifest {
  std::string id;
  std::string name;
  std::string version;
  std::string vendor;
  std::string license;
  int64_t abi_major = 0;
  int64_t abi_min_minor = 0;  // the smallest minor of the host that will do
  std::vector<DeclaredProvider> provides;
  std::map<std::string, std::string> library;  // platform -> file below the manifest's folder
  std::map<std::string, std::string> sha256;   // platform -> 64 lower-case hex digits
};

inline constexpr size_t kManifestLimit = 256 * 1024;  // bytes

// Reads one manifest's text. Whether it suits this host is not asked here: see suits_host(). [any]
Checked<Manifest> parse_manifest(std::string_view text);

// Does it speak this host's ABI and bring a library for this platform? [any]
Checked<void> suits_host(const Manifest& manifest);

}  // namespace bh
