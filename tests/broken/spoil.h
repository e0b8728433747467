// What is done to a well-built plugin to make the one that its folder is named after.
#pragma once

#include <string>

namespace bh_test {

// A whole file; a missing one ends the test.
std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& content, unsigned mode);

// Spoils the plugin in `folder` (plugin.so, plugin.json), if `name` is one that needs it. The
// manifest of the good plugin is rewritten where the fault is not to be its hash.
void spoil(const std::string& name, const std::string& folder);

// Writes plugin.json for the library that lies there now.
void write_manifest(const std::string& name, const std::string& folder);

}  // namespace bh_test
