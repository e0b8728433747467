// A PluginCaller for tests: every entry gets a BareCall that lives as long as the caller, and what
// plugins are shut down with is remembered.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "loader/caller.h"
#include "loader/probe/bare_call.h"

namespace bh_test {

class BareCaller : public bh::PluginCaller {
 public:
  bh::Result<const bh_plugin*> enter(bh::PluginEntry entry, const std::string& id) override {
    entered.push_back(id);
    auto& call = calls_[id];
    call = std::make_unique<bh::probe::BareCall>();
    const bh_plugin* plugin = entry(call->call());
    if (plugin == nullptr && call->failed()) return bh::fail(call->code(), call->message());
    return plugin;
  }

  const bh_host* host(const std::string& id) override { return calls_.at(id)->host(); }

  std::vector<std::string> entered;

 private:
  std::map<std::string, std::unique_ptr<bh::probe::BareCall>> calls_;
};

}  // namespace bh_test
