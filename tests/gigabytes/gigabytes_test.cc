// Two gibibytes in each direction, in bounded memory.
#include <algorithm>
#include <fstream>
#include <string>

#include "host/cli/child.h"
#include "support/catch.h"
#include "support/embedder.h"
#include "support/skip.h"

using bh_test::Child;
using bh_test::ChildSetup;
using bh_test::Embedder;
using bh_test::Place;

namespace {

constexpr std::size_t kAll = std::size_t{2} << 30;
constexpr std::size_t kMostKib = 64 * 1024;

std::size_t high_water_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stoul(line.substr(6));
  }
  return 0;
}

std::string config(const Place& place) {
  return R"({"version":1,"data_root":")" + place.path + R"(/d","plugins":{"path":[")" BH_BINARY_DIR
         R"(/tests/gigabytes_plugins"],"environment":false,"user":false,"relative":false,"system":false}})";
}

// What a pattern of bytes comes to, wherever it is cut.
class Pattern {
 public:
  static std::string piece() {
    std::string all(kPeriod, '\0');
    std::uint32_t state = 1;
    for (char& c : all) {
      state = state * 1664525 + 1013904223;
      c = static_cast<char>(state >> 24);
    }
    return all;
  }
  void take(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t at = taken_ % kPeriod;
      const std::size_t n = std::min(bytes.size(), kPeriod - at);
      good_ = good_ && bytes.substr(0, n) == std::string_view(piece_).substr(at, n);
      taken_ += n;
      bytes.remove_prefix(n);
    }
  }
  std::size_t taken() const { return taken_; }
  bool good() const { return good_; }

  static constexpr std::size_t kPeriod = std::size_t{8} << 20;

 private:
  const std::string piece_ = piece();
  std::size_t taken_ = 0;
  bool good_ = true;
};

// Sends kAll through the tool and has it back; the peak beyond what there was before, in KiB.
std::size_t through_library(const Place& place, const std::string& args) {
  Embedder host(config(place));
  REQUIRE(host.session != nullptr);
  CHECK(host.call("tool.list", "{}").items.size() == 3);
  bh_request* r = Embedder::request("tool.call", args);
  REQUIRE(r != nullptr);
  REQUIRE(bh_request_input(r, nullptr) == BH_OK);
  const std::string piece = Pattern::piece();
  Pattern back;
  const std::size_t before = high_water_kib();
  bh_run* run = nullptr;
  REQUIRE(bh_start(host.session, r, host.queue, 5000, &run, nullptr) == BH_OK);
  std::size_t sent = 0;
  bool ended = false, result = false;
  while (!result) {
    while (sent < kAll) {
      const std::size_t at = sent % piece.size();
      const std::size_t want = piece.size() - at;
      std::size_t taken = 0;
      REQUIRE(bh_run_send(run, piece.data() + at, want, &taken, nullptr) == BH_OK);
      sent += taken;
      if (taken < want) break;
    }
    if (sent == kAll && !ended) {
      ended = true;
      REQUIRE(bh_run_send_end(run, nullptr) == BH_OK);
    }
    bh_event* e = nullptr;
    REQUIRE(bh_queue_next(host.queue, 60'000, &e, nullptr) == BH_OK);
    REQUIRE(e != nullptr);
    std::size_t n = 0;
    const char* data = static_cast<const char*>(bh_event_data(e, &n));
    if (bh_event_kind(e) == BH_EVENT_OUTPUT) back.take({data, n});
    result = bh_event_kind(e) == BH_EVENT_RESULT;
    REQUIRE(bh_event_kind(e) != BH_EVENT_FAULT);
    bh_event_free(e);
  }
  bh_run_free(run);
  bh_request_free(r);
  CHECK(back.taken() == kAll);
  CHECK(back.good());
  return high_water_kib() - before;
}

struct Program {
  Place place;
  std::string file = place.path + "/config.json";

  Program() {
    std::ofstream(file) << config(place);
    std::filesystem::create_directory(place.path + "/project");
  }
  ChildSetup setup(std::vector<std::string> arguments) const {
    ChildSetup s;
    s.program = BH_BINARY_DIR "/bin/bulkhead";
    s.arguments = std::move(arguments);
    s.env = {"HOME=" + place.path + "/home", "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"};
    s.cwd = place.path + "/project";
    return s;
  }
  ChildSetup call(const std::string& tool, std::vector<std::string> more) const {
    std::vector<std::string> all{"call", tool, "--config", file};
    all.insert(all.end(), more.begin(), more.end());
    return setup(std::move(all));
  }
};

// Feeds the child kAll, which it gives back; its peak in KiB.
std::size_t through_child(Child& child) {
  ::signal(SIGPIPE, SIG_IGN);
  REQUIRE(child.started());
  const std::string piece = Pattern::piece();
  Pattern back;
  child.on_out = [&](std::string_view bytes) { back.take(bytes); };
  child.keep_input_open = true;
  for (std::size_t sent = piece.size(); sent <= kAll; sent += piece.size()) {
    child.pump(piece, [&] { return back.taken() >= sent; });
    if (back.taken() != sent) break;
  }
  const long peak = child.peak_kib();
  CHECK(child.finish() == 0);
  INFO(child.err);
  CHECK(back.taken() == kAll);
  CHECK(back.good());
  REQUIRE(peak > 0);
  return static_cast<std::size_t>(peak);
}

}  // namespace

TEST_CASE("the library and a toolset: 2 GiB each way") {
  Place place;
  CHECK(through_library(place, R"({"name":"echo"})") < kMostKib);
}

TEST_CASE("a toolset that runs an operation: 2 GiB each way through both") {
  Place place;
  CHECK(through_library(place, R"({"name":"through"})") < kMostKib);
}

TEST_CASE("an attachment of 2 GiB reaches the embedder in pieces") {
  Place place;
  Embedder host(config(place));
  REQUIRE(host.session != nullptr);
  bh_request* r = Embedder::request(
      "tool.call", R"({"name":"attach","arguments":{"size":)" + std::to_string(kAll) + "}}");
  REQUIRE(r != nullptr);
  const std::size_t before = high_water_kib();
  REQUIRE(bh_start(host.session, r, host.queue, 5000, nullptr, nullptr) == BH_OK);
  bh_request_free(r);
  std::size_t got = 0;
  int stream = 0, ends = 0, last = 0;
  while (last == 0) {
    bh_event* e = nullptr;
    REQUIRE(bh_queue_next(host.queue, 60'000, &e, nullptr) == BH_OK);
    REQUIRE(e != nullptr);
    std::size_t n = 0;
    (void)bh_event_data(e, &n);
    const int kind = bh_event_kind(e);
    if (kind == BH_EVENT_ATTACHMENT) stream = bh_event_stream(e);
    if (kind == BH_EVENT_OUTPUT && bh_event_stream(e) == stream) {
      got += n;
      if (n == 0) ends++;
    }
    if (kind == BH_EVENT_RESULT || kind == BH_EVENT_FAULT) last = kind;
    bh_event_free(e);
  }
  CHECK(last == BH_EVENT_RESULT);
  CHECK(stream >= BH_STREAM_ATTACHED);
  CHECK(got == kAll);
  CHECK(ends == 1);
  CHECK(high_water_kib() - before < kMostKib);
}

TEST_CASE("the program and a toolset: 2 GiB each way") {
  Program program;
  Child child(program.call("echo", {"--input", "-"}));
  CHECK(through_child(child) < kMostKib);
}

TEST_CASE("the program and a command: 2 GiB each way") {
  Program program;
  Child doctor(program.setup({"doctor", "--json"}));
  (void)doctor.finish();
  if (doctor.out.find("\"ready\":true") == std::string::npos) BH_SKIP("no isolation here");
  Child child(program.setup({"run", "--", "cat"}));
  CHECK(through_child(child) < kMostKib);
}

TEST_CASE("the program saves an attachment of 200 MiB as it comes") {
  Program program;
  constexpr std::size_t kSize = std::size_t{200} << 20;
  Child child(program.call("attach", {R"({"size":)" + std::to_string(kSize) + "}", "--output",
                                      program.place.path + "/out"}));
  CHECK(child.finish() == 0);
  INFO(child.err);
  CHECK(child.err.find("saved: ") != std::string::npos);
  CHECK(std::filesystem::file_size(program.place.path + "/out/zeros") == kSize);
}
