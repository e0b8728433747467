// What the program finds around itself, taken once at its start, so that tests can say it instead.
#pragma once

#include <map>
#include <string>

namespace bh::cli {

struct Surroundings {
  std::map<std::string, std::string> env;
  std::string cwd;   // absolute, without symlinks; empty where it was removed
  std::string home;  // $HOME, else the user database's; empty where neither says

  static Surroundings now();

  // The variable's value; an empty one counts as absent.
  const std::string* var(const std::string& name) const;

  // `path` seen from cwd.
  std::string absolute(const std::string& path) const;
};

}  // namespace bh::cli
