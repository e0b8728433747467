// Maps a checked library into the process, for good: NOW, LOCAL and NODELETE, never unloaded.
//
// Hash and load must be about the same file. dlopen("/proc/self/fd/N") would promise that, but then
// the library's name is that path: $ORIGIN in its run path leads to /proc/self/fd, a plugin cannot
// find its helper beside itself by dladdr, debuggers and crash reports see nothing, and a reused fd
// number makes glibc take the next plugin for this one. So the real path is loaded, and two walls
// stand in that place: open_file() has seen that only root and the user can swap anything on that
// path (who could as well change this process), and after the load the mapped file is compared with
// the hashed fd, so that an update in between, or a library that the process had already mapped
// from an older file of this name, is refused instead of trusted.
#pragma once

#include <string>

#include "loader/caller.h"
#include "loader/trust.h"

namespace bh {

// Loads `library` (whose hash was taken from the same fd) and finds its entry. Failures are of
// stage load, with the dynamic linker's text and a hint where one is known. [any] [blocking]
Checked<PluginEntry> load_library(const File& library);

// What the dynamic linker's text means for the one who has to mend it; empty if nothing is known.
std::string load_hint(const std::string& text, const std::string& path);

}  // namespace bh
