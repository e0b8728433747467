// Where plugins are looked for, in order; the first plugin of an id wins. Reads folders only, runs
// nothing.
#pragma once

#include <string>
#include <vector>

#include "loader/trust.h"

namespace bh {

struct SearchOptions {
  std::vector<std::string> path;  // absolute folders, first of all
  bool environment = true;        // BH_PLUGIN_PATH, colon separated
  bool user = true;               // $XDG_DATA_HOME/bulkhead/plugins
  bool relative = true;           // beside the library
  bool system = true;             // the usual folders of the system
};

// One place, as the load report shows it.
struct SearchedPlace {
  std::string source;  // config, environment, user, relative, system
  std::string path;    // empty where there is none to name
  std::string status;  // searched, absent, off, refused
  std::string message;
  std::string real;  // where `path` leads, of a folder that was searched
};

// A folder that holds, or should hold, a plugin.json.
struct PluginFolder {
  std::string source;
  std::string path;
  Trust trust;
  Checked<Folder> folder;
};

struct SearchResult {
  std::vector<SearchedPlace> places;
  std::vector<PluginFolder> folders;  // in the order in which ids win
};

// Looks at all places. A place of the config or environment may also be one plugin's own folder.
// The environment counts only for programs without raised rights (secure_getenv). [any]
SearchResult search_plugins(const SearchOptions& options);

}  // namespace bh
