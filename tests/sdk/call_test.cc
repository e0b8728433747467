// The call's clock, input and attachments, through the SDK's view and the fake.
#include "support/catch.h"

#include <poll.h>
#include <bulkhead/sdk.hpp>
#include <bulkhead/sdk/testing/fake_host.hpp>
#include <thread>

using namespace bulkhead::sdk;
using bulkhead::sdk::testing::FakeCall;
using bulkhead::sdk::testing::FakeHost;

namespace {

bool readable(bh_fd fd, int timeout_ms) {
  pollfd p{static_cast<int>(fd), POLLIN, 0};
  return ::poll(&p, 1, timeout_ms) == 1;
}

}  // namespace

TEST_CASE("stop wakes a waiting call and its fd, and later answers say so") {
  FakeHost host;
  FakeCall raw(host.raw());
  Call call(raw.raw());
  CHECK_FALSE(call.cancelled());
  CHECK_FALSE(readable(call.cancel_fd(), 0));
  Status waited;
  std::thread worker([&] { waited = call.wait(std::chrono::hours(1)); });
  raw.stop(BH_DEADLINE_EXCEEDED);
  worker.join();
  CHECK(waited.code() == BH_DEADLINE_EXCEEDED);
  CHECK(readable(call.cancel_fd(), 0));
  CHECK(call.emit(1, "late").code() == BH_DEADLINE_EXCEEDED);
  char b;
  CHECK(call.receive(&b, 1).status().code() == BH_DEADLINE_EXCEEDED);
  CHECK(raw.out().empty());
}

TEST_CASE("input comes in pieces and ends") {
  FakeHost host;
  FakeCall raw(host.raw());
  raw.input("abcde", 2);
  Call call(raw.raw());
  CHECK(readable(call.receive_fd(), 0));
  char buffer[8];
  std::string got;
  for (;;) {
    auto n = call.receive(buffer, sizeof buffer);
    REQUIRE(n.ok());
    if (*n == 0) break;
    CHECK(*n <= 2);
    got.append(buffer, *n);
  }
  CHECK(got == "abcde");
}

TEST_CASE("end_input ends it early") {
  FakeHost host;
  FakeCall raw(host.raw());
  raw.input("abc", 1);
  Call call(raw.raw());
  char b;
  CHECK(*call.receive(&b, 1) == 1);
  call.end_input();
  CHECK(*call.receive(&b, 1) == 0);
  CHECK(raw.recorded().input_ended);
  CHECK(raw.input_left() == 2);
}

TEST_CASE("attachments, events and the time that is left") {
  FakeHost host;
  FakeCall raw(host.raw());
  Call call(raw.raw());
  CHECK(call.time_left() == std::chrono::nanoseconds::max());
  raw.time_left(std::chrono::seconds(2));
  CHECK(call.time_left() == std::chrono::seconds(2));
  REQUIRE(call.attach("shot.png", "image/png", std::string_view("\0\1", 2)).ok());
  call.event(R"({"percent":50})");
  const auto got = raw.recorded();
  REQUIRE(got.attachments.size() == 1);
  CHECK(got.attachments[0].name == "shot.png");
  CHECK(got.attachments[0].data.size() == 2);
  CHECK(got.events.size() == 1);
}
