// Quotas, full disks, and gigabytes in little memory.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <fstream>

#include "store_at.h"
#include "support/catch.h"
#include "support/skip.h"

using namespace bh_test;

TEST_CASE("a quota is named with its limit and what to do") {
  TempFolder at;
  StoreAt store(at.path, R"(,"max_bytes":1000,"max_file_bytes":600,"max_files":2)");
  const Answer large = store.put("a", std::string(601, 'x'));
  CHECK(large.code == BH_RESOURCE_EXHAUSTED);
  CHECK(large.has(R"("quota":"max_file_bytes","limit":600)"));
  CHECK(large.has("raise max_file_bytes"));
  REQUIRE(store.put("a", std::string(600, 'x')).code == BH_OK);
  const Answer full = store.put("b", std::string(401, 'x'));
  CHECK(full.code == BH_RESOURCE_EXHAUSTED);
  CHECK(full.has(R"("reason":"quota","quota":"max_bytes","limit":1000)"));
  REQUIRE(store.put("b", std::string(400, 'x')).code == BH_OK);
  const Answer third = store.put("c", "");
  CHECK(third.code == BH_RESOURCE_EXHAUSTED);
  CHECK(third.has(R"("quota":"max_files","limit":2)"));
  CHECK(store.get("a").data.size() == 600);
  CHECK(entries(at.path + "/tmp").empty());
  // What goes makes room.
  REQUIRE(store.remove("a").code == BH_OK);
  REQUIRE(store.put("d/e", std::string(600, 'x')).code == BH_OK);
  REQUIRE(store.remove("d", true).code == BH_OK);
  REQUIRE(store.put("b", std::string(600, 'x')).code == BH_OK);
  REQUIRE(store.put("b", std::string(400, 'x')).code == BH_OK);
  CHECK(store.put("c", std::string(600, 'x')).code == BH_OK);
}

TEST_CASE("an upload on its way counts with what has come of it") {
  TempFolder at;
  StoreAt store(at.path, R"(,"max_bytes":4194304)");
  bh_status beside = BH_OK, small = BH_UNKNOWN;
  Pouring call(store.host.raw(), 3 << 20, [&](int64_t pos) {
    if (pos == 3 << 20) {
      beside = store.put("other", std::string((1 << 20) + 1, 'x')).code;
      small = store.put("small", std::string(1 << 20, 'x')).code;
    }
    return BH_OK;
  });
  CHECK(store.pour(call, "f").code == BH_OK);
  CHECK(beside == BH_RESOURCE_EXHAUSTED);
  CHECK(small == BH_OK);
  // The other way round: it is stopped in the middle of what it sends.
  REQUIRE(store.remove("small").code == BH_OK);
  Pouring endless(store.host.raw(), int64_t{1} << 40);
  const Answer a = store.pour(endless, "g");
  CHECK(a.code == BH_RESOURCE_EXHAUSTED);
  CHECK(endless.received <= 3 << 20);
  CHECK(store.get("g").code == BH_NOT_FOUND);
  CHECK(entries(at.path + "/tmp").empty());
}

TEST_CASE("what was changed by hand, or cut off, is counted anew") {
  TempFolder at;
  {
    StoreAt store(at.path, R"(,"max_bytes":1000)");
    REQUIRE(store.put("a", std::string(900, 'x')).code == BH_OK);
  }
  spill(at.path + "/files/a", "small now");
  StoreAt store(at.path, R"(,"max_bytes":1000)");
  REQUIRE(store.put("b", std::string(900, 'x')).code == BH_OK);
  // As a process leaves it that dies between the two halves of a change.
  spill(at.path + "/usage", "1 0 0 5 1 ");
  CHECK(store.put("c", std::string(900, 'x')).code == BH_RESOURCE_EXHAUSTED);
  CHECK(store.put("c", std::string(90, 'x')).code == BH_OK);
  spill(at.path + "/usage", "what is this");
  CHECK(store.put("d", std::string(90, 'x')).code == BH_RESOURCE_EXHAUSTED);
}

TEST_CASE("a full disk is told as one, and the old content stands") {
  TempFolder at;
  const std::string said = in_child_with_mount(at.path, "tmpfs", "size=4m", [&]() -> std::string {
    StoreAt store(at.path);
    if (store.put("f", "old").code != BH_OK) return "no first write";
    Pouring call(store.host.raw(), 16 << 20);
    const Answer a = store.pour(call, "f");
    if (a.code != BH_RESOURCE_EXHAUSTED || !a.has("disk_full") || !a.has("remedy")) {
      return "not told: " + a.message + a.details;
    }
    if (store.get("f").data != "old") return "old content is gone";
    if (!entries(at.path + "/tmp").empty()) return "something is left";
    if (store.put("f", std::string(1 << 20, 'n')).code != BH_OK) return "room is not free again";
    return "good";
  });
  if (said.rfind("cannot", 0) == 0) BH_SKIP(said);
  CHECK(said == "good");
}

TEST_CASE("media types are kept where files have no attributes") {
  TempFolder at;
  const std::string said = in_child_with_mount(at.path, "ramfs", "", [&]() -> std::string {
    StoreAt store(at.path);
    Entry e;
    if (store.put("d/f", "x", "", "image/png").code != BH_OK) return "no first write";
    (void)store.stat("d/f", &e);
    if (e.media_type != "image/png") return "not kept: " + e.media_type;
    if (entries(at.path + "/types").size() != 1) return "this file system has attributes";
    if (store.put("d/f", "y", "", "a/b").code != BH_OK) return "no second write";
    (void)store.stat("d/f", &e);
    if (e.media_type != "a/b") return "the older one is told: " + e.media_type;
    if (entries(at.path + "/types").size() != 1) return "the older one is left";
    if (store.remove("d", true).code != BH_OK) return "not removed";
    if (!entries(at.path + "/types").empty()) return "one is left";
    spill(at.path + "/types/orphan", "x");
    (void)store.put("g", "x", "", "c/d");
    const StoreAt beside(at.path);
    return entries(at.path + "/types").size() == 2 ? "good" : "swept while others are there";
  });
  if (said.rfind("cannot", 0) == 0) BH_SKIP(said);
  CHECK(said == "good");
}

namespace {

int64_t peak_kib() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stoll(line.substr(6));
  }
  return -1;
}

// Pours a file in and out and tells by how many KiB memory grew at most.
int64_t pour_through(int64_t bytes) {
  TempFolder at;
  StoreAt store(at.path);
  spill("/proc/self/clear_refs", "5");
  const int64_t before = peak_kib();
  const auto begun = std::chrono::steady_clock::now();
  auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  };
  Pouring in(store.host.raw(), bytes);
  REQUIRE(store.pour(in, "f").code == BH_OK);
  const double written = seconds();
  Pouring out(store.host.raw());
  REQUIRE(store.get(out, "f").code == BH_OK);
  CHECK(out.emitted == bytes);
  CHECK(out.sum_out == in.sum_in);
  const int64_t grown = peak_kib() - before;
  std::printf("%lld MiB: written in %.1f s, read in %.1f s, memory grew by %lld KiB\n",
              static_cast<long long>(bytes >> 20), written, seconds() - written,
              static_cast<long long>(grown));
  return grown;
}

}  // namespace

TEST_CASE("a gigabyte passes in a few megabytes of memory") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  BH_SKIP("a sanitizer's own memory hides the store's");
#else
  CHECK(pour_through(int64_t{1} << 30) < 16 << 10);
#endif
}

// By hand: filestore_dir_test "[.ten]"
TEST_CASE("ten gigabytes pass in a few megabytes of memory", "[.ten]") {
  CHECK(pour_through(int64_t{10} << 30) < 16 << 10);
}
