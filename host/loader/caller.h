// The one thing that the loader needs from the floor below: a call to give to a plugin's entry, and
// the host as a plugin sees it. core/ implements it; tests bring their own.
#pragma once

#include <bulkhead/plugin.h>

#include <string>

#include "base/error.h"

namespace bh {

using PluginEntry = const bh_plugin* (*)(bh_call* call);

class PluginCaller {
 public:
  virtual ~PluginCaller() = default;

  // Calls `entry` with a call of its own, whose host view is that of plugin `id`. Answers what it
  // returned, NULL too; an Error is what it said through fail(), and may be without text. Lets
  // exceptions pass: the loader tells them apart. One at a time.
  virtual Result<const bh_plugin*> enter(PluginEntry entry, const std::string& id) = 0;

  // The host view that plugin `id` was given. Valid until the caller is gone.
  virtual const bh_host* host(const std::string& id) = 0;
};

}  // namespace bh
