// What a check of one line of the report begins with: is the rule in the schema, what does the
// report say, and is there something to try.
#pragma once

#include <string>

#include "box.h"

namespace bulkhead::sdk::contract {

// Skips where the schema does not list the key, or rules the word out.
void needs_key(Try& t, const std::string& key, const std::string& word = {});

// The line about `rule`, which is there since its key was given. True: it is enforced, so try it.
// Otherwise it has a reason, which is noted, and there is nothing to try.
bool promised(Try& t, const Report& report, const std::string& rule);

// A guarantee of the backend's own: it may be missing, which counts as unsupported.
bool guaranteed(Try& t, const Report& report, const std::string& rule);

// The attempt works out here, so its failure inside means something.
void control(Try& t, bool works, const std::string& what);

}  // namespace bulkhead::sdk::contract
