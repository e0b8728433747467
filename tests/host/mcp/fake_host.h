// A host that a test plays: it remembers what was started, and gives the events that it is told to.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mcp/engine.h"

namespace bh_test {

using bh::mcp::HostEvent;
using bh::mcp::JsonView;
using bulkhead::Fault;

class FakeHost : public bh::mcp::HostPort {
 public:
  struct Started {
    uint64_t tag;
    std::string operation;
    std::string args;
  };

  Fault start(uint64_t tag, std::string_view operation, std::string_view args) override {
    if (refuse) return refuse;
    started.push_back({tag, std::string(operation), std::string(args)});
    return {};
  }
  void cancel(uint64_t tag) override { cancelled.insert(tag); }
  int fd() const override { return -1; }
  bool take(const std::function<void(const HostEvent&)>&) override { return false; }

  std::vector<Started> started;
  std::set<uint64_t> cancelled;
  Fault refuse;
};

// An engine with a fake host under it, its clock standing still, and all that it said.
class Session {
 public:
  explicit Session(bh::mcp::Limits limits = {})
      : engine(host, [this](std::string&& m) { said.push_back(std::move(m)); },
               {limits, "1.2.3", "", [this] { return now; }}) {}

  // Says hello in a revision, and forgets the answer.
  Session& open(const std::string& revision = "2025-11-25") {
    engine.feed(
        R"({"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":")" +
        revision + R"(","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})");
    engine.feed(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    said.clear();
    return *this;
  }

  // The one message that feeding this brings; empty where there is none.
  std::string ask(std::string_view message) {
    said.clear();
    engine.feed(message);
    return said.empty() ? "" : said.back();
  }
  // Starts a call of `tool`; gives its tag.
  uint64_t call(const std::string& id, const std::string& tool = "t",
                const std::string& meta = "") {
    engine.feed(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/call","params":{"name":")" +
                tool + R"(","arguments":{})" + (meta.empty() ? "" : ",\"_meta\":" + meta) + "}}");
    return host.started.empty() ? 0 : host.started.back().tag;
  }
  std::string cancel(const std::string& id) {
    return ask(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
               id + "}}");
  }

  // What happens in the host.
  void event(uint64_t tag, int32_t kind, std::string_view data, std::string_view name = "",
             std::string_view type = "") {
    HostEvent e;
    e.kind = kind;
    e.tag = tag;
    e.stream = 1;
    e.name = name;
    e.type = type;
    e.data = data;
    engine.on_event(e);
  }
  std::string result(uint64_t tag, std::string_view json = R"({"content":[]})") {
    said.clear();
    event(tag, BH_EVENT_RESULT, json);
    return said.empty() ? "" : said.back();
  }
  std::string fault(uint64_t tag, bh_status code, std::string message, std::string details = "") {
    said.clear();
    HostEvent e;
    e.kind = BH_EVENT_FAULT;
    e.tag = tag;
    e.fault = Fault(code, std::move(message), std::move(details));
    engine.on_event(e);
    return said.empty() ? "" : said.back();
  }

  FakeHost host;
  bh::mcp::Clock::time_point now{};
  std::vector<std::string> said;
  bh::mcp::Engine engine;
};

// The values of a path of keys: at(m, "error", "code").
template <class... Keys>
std::string at(std::string_view message, Keys... keys) {
  JsonView v(message);
  ((v = v.member(keys)), ...);
  return std::string(v.raw());
}

}  // namespace bh_test
