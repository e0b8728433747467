// A backend in a few lines, driven through its C table.
#include "support/catch.h"

#include <bulkhead/sdk.hpp>
#include <bulkhead/sdk/testing/fake_host.hpp>
#include <cstring>
#include <mutex>
#include <set>

using namespace bulkhead::sdk;
using bulkhead::sdk::testing::FakeCall;
using bulkhead::sdk::testing::FakeHost;

namespace {

// ---- the whole of a minimal backend: it "runs" cat and false
class Cell : public Sandbox, public Pty {
 public:
  Status exec(Call& call, const Exec& what, Exit& out) override {
    if (what.arg(0) == "false") return out.exited(1), Status();
    char buffer[16];
    while (what.has_input()) {
      auto got = call.receive(buffer, sizeof buffer);
      if (!got) return out.reason = BH_EXIT_STOPPED, got.status();
      if (*got == 0) break;
      if (auto st = call.emit(BH_STREAM_STDOUT, {buffer, *got}); !st) {
        return out.reason = BH_EXIT_STOPPED, st;
      }
    }
    return out.exited(0), Status();
  }
  Status resize(Call&, std::string_view id, uint32_t rows, uint32_t) override {
    return rows > 0 ? Status() : failure(BH_INVALID_ARGUMENT, std::string(id), "range", "/rows");
  }
};
class Cells : public Isolation {
 public:
  static const void* extension(std::string_view id) { return extensions<Pty, Pause>(id); }
  Result<std::unique_ptr<Sandbox>> create(Call& call, std::string_view id,
                                          std::string_view) override {
    std::lock_guard lock(m_);
    if (!ids_.emplace(id).second) return failure(BH_ALREADY_EXISTS, "taken", "taken", "/id");
    if (auto st = call.result(R"({"rules":[]})"); !st) return std::move(st).failure();
    return std::make_unique<Cell>();
  }
  Status destroy(Call&, std::string_view id) override {
    std::lock_guard lock(m_);
    return ids_.erase(std::string(id)), Status();
  }

 private:
  std::mutex m_;
  std::set<std::string> ids_;
};

Plugin& cells() {
  static Plugin plugin = std::move(Plugin("org.example.cells", "Cells", "1.0.0")
                                       .isolation<Cells>("cells", Provides().exec_schema("{}")));
  return plugin;
}

// One opened backend with one sandbox in it.
struct Opened {
  FakeHost host;
  testing::Opened<bh_isolation> backend =
      host.open<bh_isolation>(&detail::Entry<&cells>::enter, BH_ISOLATION, "cells");
  void* sandbox = nullptr;
  Opened() {
    FakeCall call(host.raw());
    REQUIRE(backend->create(backend.self(), call.raw(), "a", 1, "{}", 2, &sandbox) == BH_OK);
    REQUIRE(call.recorded().result == R"({"rules":[]})");
  }
  ~Opened() { backend->release(sandbox); }
};

bh_exec command(const bh_str* argv, uint32_t flags) {
  bh_exec e{};
  e.struct_size = sizeof e;
  e.flags = flags;
  e.id = str("e1");
  e.argv = argv;
  e.argc = 1;
  e.options = str("{}");
  return e;
}

}  // namespace

TEST_CASE("create, exec with input, and the exit") {
  Opened o;
  FakeCall call(o.host.raw());
  call.input(std::string(1000, 'x') + "end", 7);
  const bh_str cat = str("cat");
  const bh_exec what = command(&cat, BH_EXEC_INPUT);
  bh_exit out{};
  out.struct_size = sizeof out;
  REQUIRE(o.backend->exec(o.sandbox, call.raw(), &what, &out) == BH_OK);
  CHECK(call.out() == std::string(1000, 'x') + "end");
  CHECK(out.reason == BH_EXIT_CODE);
  CHECK(out.exit_code == 0);
  CHECK(out.cpu_ns == -1);
  const bh_str no = str("false");
  const bh_exec fails = command(&no, 0);
  CHECK(o.backend->exec(o.sandbox, call.raw(), &fails, &out) == BH_OK);
  CHECK(out.exit_code == 1);
}

TEST_CASE("the exit is filled although the call was stopped, and no further than it is long") {
  Opened o;
  FakeCall call(o.host.raw());
  call.input("abcdef", 1).stop_at_emit(2);
  const bh_str cat = str("cat");
  const bh_exec what = command(&cat, BH_EXEC_INPUT);
  struct {
    bh_exit exit;
    char after[8];
  } memory;
  std::memset(&memory, 0x5A, sizeof memory);
  memory.exit.struct_size = offsetof(bh_exit, flags);  // an older host
  CHECK(o.backend->exec(o.sandbox, call.raw(), &what, &memory.exit) == BH_CANCELLED);
  CHECK(memory.exit.reason == BH_EXIT_STOPPED);
  CHECK(memory.exit.flags == 0x5A5A5A5Au);
  CHECK(memory.exit.peak_bytes == 0x5A5A5A5A5A5A5A5A);
  CHECK(call.out() == "ab");
}

TEST_CASE("a flag that the SDK does not know is refused before the author sees it") {
  Opened o;
  FakeCall call(o.host.raw());
  const bh_str cat = str("cat");
  const bh_exec what = command(&cat, 1u << 7);
  bh_exit out{};
  out.struct_size = sizeof out;
  CHECK(o.backend->exec(o.sandbox, call.raw(), &what, &out) == BH_UNIMPLEMENTED);
  CHECK(out.reason == BH_EXIT_UNKNOWN);
}

TEST_CASE("what a backend does not have answers BH_UNIMPLEMENTED with a text") {
  Opened o;
  FakeCall call(o.host.raw());
  void* found = nullptr;
  CHECK(o.backend->plan(o.backend.self(), call.raw(), "{}", 2) == BH_UNIMPLEMENTED);
  CHECK(o.backend->find(o.backend.self(), call.raw(), "a", 1, &found) == BH_UNIMPLEMENTED);
  CHECK(found == nullptr);
  CHECK(o.backend->list(o.backend.self(), call.raw()) == BH_UNIMPLEMENTED);
  CHECK(o.backend->inspect(o.sandbox, call.raw()) == BH_UNIMPLEMENTED);
  CHECK(o.backend->signal(o.sandbox, call.raw(), "e", 1, 9) == BH_UNIMPLEMENTED);
  CHECK_FALSE(call.recorded().message.empty());
}

TEST_CASE("a failed create gives no handle, destroy is idempotent") {
  Opened o;
  FakeCall call(o.host.raw());
  void* second = nullptr;
  CHECK(o.backend->create(o.backend.self(), call.raw(), "a", 1, "{}", 2, &second) ==
        BH_ALREADY_EXISTS);
  CHECK(second == nullptr);
  CHECK(o.backend->destroy(o.backend.self(), call.raw(), "a", 1) == BH_OK);
  CHECK(o.backend->destroy(o.backend.self(), call.raw(), "a", 1) == BH_OK);
}

TEST_CASE("optional tables: there, there but not on this handle, not there") {
  Opened o;
  FakeCall call(o.host.raw());
  const auto* pty =
      static_cast<const bh_isolation_pty*>(o.backend->get_extension(BH_ISOLATION_PTY));
  REQUIRE(pty != nullptr);
  CHECK(pty->resize(o.sandbox, call.raw(), "e", 1, 24, 80) == BH_OK);
  CHECK(pty->resize(o.sandbox, call.raw(), "e", 1, 0, 80) == BH_INVALID_ARGUMENT);
  const auto* pause =
      static_cast<const bh_isolation_pause*>(o.backend->get_extension(BH_ISOLATION_PAUSE));
  REQUIRE(pause != nullptr);
  CHECK(pause->pause(o.sandbox, call.raw()) == BH_UNIMPLEMENTED);
  CHECK(o.backend->get_extension(BH_ISOLATION_PORTS) == nullptr);
}
