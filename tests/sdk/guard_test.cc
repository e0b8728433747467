// The trampolines: whatever an author's function does, the host sees a code and a text.
#include "support/catch.h"

#include <bulkhead/sdk.hpp>
#include <bulkhead/sdk/json.hpp>
#include <bulkhead/sdk/testing/fake_host.hpp>

using namespace bulkhead::sdk;
using bulkhead::sdk::testing::FakeCall;
using bulkhead::sdk::testing::FakeHost;

namespace {

// Does what the tool's name says.
class Unruly : public Toolset {
 public:
  Status list(Call&) override { throw std::runtime_error("no list today"); }
  Status call(Call& call, std::string_view tool, std::string_view, Blobs) override {
    if (tool == "standard") throw std::runtime_error("broken inside");
    if (tool == "empty") throw std::runtime_error("");
    if (tool == "foreign") throw 42;
    if (tool == "memory") throw std::bad_alloc();
    if (tool == "failure") return failure(BH_NOT_FOUND, "nothing there", "gone", "/id");
    if (tool == "host") return call.emit(BH_STREAM_STDOUT, "x");
    if (tool == "recorded") return call.fail(BH_ABORTED, "lost the race");
    if (tool == "zero") return Failure(BH_OK, "a failure without a code");
    return call.result(R"({"content":[]})");
  }
};

Plugin& unruly() {
  static Plugin plugin = std::move(Plugin("org.example.unruly", "U", "1.0.0").toolset<Unruly>("u"));
  return plugin;
}

// Calls one tool and gives what was recorded; `code` is what the function returned.
testing::Recorded run(const char* tool, bh_status& code, int stop_at = 0) {
  FakeHost host;
  auto set = host.open<bh_toolset>(&detail::Entry<&unruly>::enter, BH_TOOLSET, "u");
  FakeCall call(host.raw());
  call.stop_at_emit(stop_at);
  code = set->call(set.self(), call.raw(), tool, std::strlen(tool), "{}", 2, nullptr, 0);
  return call.recorded();
}

}  // namespace

TEST_CASE("exceptions become BH_INTERNAL with their text and a reason") {
  bh_status code = BH_OK;
  for (const auto& [tool, text] :
       {std::pair{"standard", "broken inside"}, std::pair{"empty", "an exception"},
        std::pair{"foreign", "an exception that is not"}, std::pair{"memory", "bad_alloc"}}) {
    const auto got = run(tool, code);
    CHECK(code == BH_INTERNAL);
    CHECK(got.code == BH_INTERNAL);
    CHECK(got.message.find(text) != std::string::npos);
    auto details = json::parse_object(got.details);
    REQUIRE(details.ok());
    CHECK(json::text(*details, "reason") == "exception");
  }
}

TEST_CASE("an exception out of list() stops at the border too") {
  FakeHost host;
  auto set = host.open<bh_toolset>(&detail::Entry<&unruly>::enter, BH_TOOLSET, "u");
  FakeCall call(host.raw());
  CHECK(set->list(set.self(), call.raw()) == BH_INTERNAL);
  CHECK(call.recorded().message == "no list today");
}

TEST_CASE("a Failure is recorded with code, text and details") {
  bh_status code = BH_OK;
  auto got = run("failure", code);
  CHECK(code == BH_NOT_FOUND);
  CHECK(got.code == BH_NOT_FOUND);
  CHECK(got.message == "nothing there");
  CHECK(got.details == R"({"reason":"gone","field":"/id"})");
  got = run("recorded", code);
  CHECK(code == BH_ABORTED);
  CHECK(got.message == "lost the race");
  got = run("zero", code);
  CHECK(code == BH_INTERNAL);
  CHECK(got.message == "a failure without a code");
}

TEST_CASE("the host's own code goes back as it came, and nothing is recorded over it") {
  bh_status code = BH_OK;
  const auto got = run("host", code, 1);
  CHECK(code == BH_CANCELLED);
  CHECK_FALSE(got.failed);
}

TEST_CASE("success records no failure") {
  bh_status code = BH_UNKNOWN;
  const auto got = run("fine", code);
  CHECK(code == BH_OK);
  CHECK_FALSE(got.failed);
  CHECK(got.results == 1);
}
