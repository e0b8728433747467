// What the command line says, as plain data. Only parse.cc knows the library that reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bh::cli {

enum class Verb { kNone, kDoctor, kPlugins, kTools, kCall, kRun, kMcp, kImage, kVersion };

struct Options {
  Verb verb = Verb::kNone;
  std::string help;  // not empty: this text is all that was asked for

  // Global.
  std::optional<std::string> config;
  std::optional<std::string> data_root;
  std::vector<std::string> plugin_path;

  // Of several verbs; absent where the flag is not given.
  bool json = false;
  std::optional<std::string> persona;
  std::optional<std::string> backend;
  std::optional<std::string> workspace;
  std::optional<std::string> net;
  std::optional<std::int64_t> timeout_ms;

  // run
  std::optional<std::string> profile;  // a file
  std::vector<std::string> command;

  std::optional<std::string> image;  // to start from

  // image
  std::string action;  // import, list, rm, inspect, build
  std::string target;  // a path or "-", a name, what to build
  std::optional<std::string> name;
  std::optional<std::string> reference;
  std::optional<std::string> platform;
  std::optional<std::string> suite;
  bool replace = false;

  // call
  std::string tool;
  std::string arguments = "{}";       // JSON, "-" or "@FILE"
  std::optional<std::string> input;   // a file, or "-": bytes for the tool
  std::optional<std::string> output;  // the folder for what comes back beside the text
};

}  // namespace bh::cli
