// From what a caller wishes to the whole profile that a backend gets: defaults filled in, paths made
// absolute and checked, what no caller may decide added.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "sandbox/settings.h"
#include "state/data_root.h"

namespace bh {

// What a caller may say about a sandbox; each part may be absent.
struct SandboxWish {
  std::string backend;
  std::string workspace;
  json::object profile;
  std::string image;  // its name, in the store or the configuration
};

// Where a sandbox's own folders lie, relative to DATA_ROOT.
std::string persona_folder(const std::string& persona);
std::string sandbox_folder(const std::string& id);

// `folders`: relative to DATA_ROOT, holds home, tmp and (where the wish and the settings name none)
// workspace; made here. INVALID_ARGUMENT or FAILED_PRECONDITION with reason workspace_refused names
// what is wrong with the workspace.
Result<json::object> resolve_profile(const SandboxWish& wish, const SandboxSettings& settings,
                                     const std::string& persona, const DataRoot& root,
                                     const std::string& folders);

// The rules that must be enforced: an image or snapshot to start from, and the profile's own list,
// or network.mode where it has none.
std::vector<std::string> required_of(const json::object& profile, const std::string& backend);

}  // namespace bh
