// Whatever a client sends, in whatever pieces: each answer is one line of well-formed JSON, and a
// session that ends leaves nothing in progress. The first byte chooses the revision.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "mcp/engine.h"
#include "mcp/line_reader.h"

namespace {

using namespace bh::mcp;

// Answers with what it was asked, so that it comes back through the results as well.
class EchoHost : public HostPort {
 public:
  Fault start(uint64_t tag, std::string_view operation, std::string_view args) override {
    if (check_json(args)) std::abort();
    pending.push_back({tag, std::string(operation), std::string(args)});
    return {};
  }
  void cancel(uint64_t) override {}
  int fd() const override { return -1; }
  bool take(const std::function<void(const HostEvent&)>&) override { return false; }

  struct Pending {
    uint64_t tag;
    std::string operation;
    std::string args;
  };
  std::vector<Pending> pending;
};

void answer(Engine& engine, const EchoHost::Pending& asked) {
  std::string arguments(JsonView(asked.args).member("arguments").raw());
  HostEvent e;
  e.tag = asked.tag;
  e.kind = BH_EVENT_OUTPUT;
  e.data = arguments;
  engine.on_event(e);
  e.kind = BH_EVENT_PROGRESS;
  engine.on_event(e);
  e.kind = BH_EVENT_ITEM;
  engine.on_event(e);
  e.kind = BH_EVENT_RESULT;
  engine.on_event(e);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  EchoHost host;
  EngineOptions options;
  options.limits.calls = 4;
  options.limits.deferred_bytes = 100;
  options.limits.message_bytes = 4096;
  options.now = [] { return Clock::time_point(); };
  Engine engine(
      host,
      [](std::string&& line) {
        if (check_json(line, 200) || line.find('\n') != std::string::npos) std::abort();
      },
      options);
  std::string hello =
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")";
  hello += revision_text(static_cast<Revision>(data[0] % 5));
  engine.feed(hello + "\"}}");
  LineReader reader(options.limits.message_bytes);
  size_t lines = 0;
  reader.feed(
      text,
      [&](std::string_view line) {
        engine.feed(line);
        engine.set_congested(++lines % 3 == 0);
        if (lines % 2 == 0 && !host.pending.empty()) {
          auto asked = host.pending.front();
          host.pending.erase(host.pending.begin());
          answer(engine, asked);
        }
      },
      [&] { engine.refuse_too_long(); });
  engine.set_congested(false);
  engine.shut_down();
  while (!host.pending.empty()) {
    auto asked = host.pending.front();
    host.pending.erase(host.pending.begin());
    answer(engine, asked);
  }
  if (!engine.idle()) std::abort();
  return 0;
}
