// The library speaks of its operations and of the JSON that it was given; whoever types a command
// knows verbs, flags and files. This is the one place where the first is said in words of the
// second.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace bh::cli {

// Where a part of what the library was given came from.
struct Origin {
  std::string place;  // its JSON pointer there: "/profile", "/defaults/network"
  std::string what;   // "the profile /home/u/p.json", "--net"
  std::string cut;    // how much of the pointer is not part of what was named; often the place
};

// All that was named. The first origin that a field lies in is the one that is told.
struct Named {
  std::string config_file;  // empty: there is none
  std::vector<Origin> origins;
};

// A sentence with verbs in the place of operations ("tool.list" → "`bulkhead tools`"), and the
// config file's name where the library speaks of the config.
std::string in_cli_words(std::string_view text, const Named& named = {});

// A fault's message: the same, and what `details.field` points to is named by its origin.
std::string message_in_cli_words(std::string_view message, const boost::json::object& details,
                                 const Named& named);

}  // namespace bh::cli
