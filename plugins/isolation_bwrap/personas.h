// Which kernel id each persona of this data folder has, when root starts its sandboxes.
#pragma once

#include <bulkhead/sdk.hpp>
#include <cstdint>
#include <string>

namespace bwrap {

namespace sdk = bulkhead::sdk;

// A range that neither distributions nor systemd hand out.
constexpr uint32_t kFirstShifted = 0x70000000;
constexpr uint32_t kShiftedCount = 0x01000000;
// Of the trial, which belongs to no persona.
constexpr uint32_t kTrialId = kFirstShifted + kShiftedCount;

// A file per id that is taken, which names its persona: no two personas ever share one, whichever
// processes ask at once, and none is ever given back. [any]
class Personas {
 public:
  // `folder`: the provider's state folder.
  explicit Personas(std::string folder) : folder_(std::move(folder) + "/.ids") {}

  // The persona's own, for ever; taken now where it has none and `take` says so, else the one that
  // it would get. RESOURCE_EXHAUSTED, INTERNAL: it cannot be written down.
  sdk::Result<uint32_t> id_of(const std::string& persona, bool take) const;

  // Where the search begins: most often also where it ends.
  static uint32_t first_guess(const std::string& persona);

 private:
  sdk::Status claim(const std::string& path, const std::string& persona) const;
  std::string folder_;
};

}  // namespace bwrap
