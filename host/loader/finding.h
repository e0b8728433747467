// What the loader found out about one plugin: the line of the load report. A plugin that cannot be
// used is an ordinary outcome here, never an error of the scan: functions that check one answer
// Checked<T>, and the first finding that ends a plugin's way is the one that is shown.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace bh {

enum class PluginStatus {
  available,  // listed, not loaded yet
  loaded,
  shadowed,  // another one with this id comes first in the search order
  disabled,  // by the config
  refused,   // the host will not use it
  failed,    // the host tried, and it did not work
};

// How far it came; `none` for one that has nothing against it.
enum class LoadStage { none, manifest, permission, hash, elf, abi, load, entry, interface, schema };

struct Finding {
  PluginStatus status = PluginStatus::available;
  LoadStage stage = LoadStage::none;
  std::string message;  // one sentence: what is wrong
  std::string hint;     // the next step; empty only where nothing is against the plugin
};

template <class T>
using Checked = tl::expected<T, Finding>;

const char* name_of(PluginStatus status);
const char* name_of(LoadStage stage);

// The hint is for the operator who reads the report, and nobody may leave it out: what he can do
// here, or what he has to ask of whom.
inline tl::unexpected<Finding> refuse(LoadStage stage, std::string message, std::string hint) {
  return tl::make_unexpected(
      Finding{PluginStatus::refused, stage, std::move(message), std::move(hint)});
}

inline tl::unexpected<Finding> broken(LoadStage stage, std::string message, std::string hint) {
  return tl::make_unexpected(
      Finding{PluginStatus::failed, stage, std::move(message), std::move(hint)});
}

// The hint where only the plugin's code can be changed: `what` is for its author.
inline std::string ask_author(const std::string& what) {
  return "ask the plugin's author to " + what;
}

// What helps against an error of the system with the file or folder at `path`.
std::string hint_for_errno(int number, const std::string& path);

}  // namespace bh
