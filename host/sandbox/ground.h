// Where on this machine a profile's folders lie.
#pragma once

#include <string>

#include "base/json.h"

namespace bh {

// Whether a folder of the host that the profile names lies on another file system than `home`: what a
// backend can do there may differ from what it can do in our own folders.
bool leaves_file_system(const json::object& profile, const std::string& home);

}  // namespace bh
