// A backend's records of its sandboxes, while several processes and threads use them at once.
#include "support/catch.h"
#include "temp_folder.h"

#include <atomic>
#include <bulkhead/sdk/isolation/store.hpp>
#include <bulkhead/sdk/testing/fake_host.hpp>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

namespace iso = bulkhead::sdk::isolation;
using bulkhead::sdk::testing::FakeCall;
using bulkhead::sdk::testing::FakeHost;

namespace {

// What threads had to complain of.
struct Complaints {
  void add(const std::string& what) {
    const std::lock_guard lock(m);
    all += what + "\n";
  }
  std::mutex m;
  std::string all;
};

}  // namespace

TEST_CASE("store: a sandbox that ends takes no command, however many end it and enter it at once") {
  Folder folder;
  const iso::Store store(folder.path);
  FakeHost host;
  Complaints wrong;
  std::atomic<int> entered{0};
  for (int round = 0; round < 150; ++round) {
    const std::string id = "s" + std::to_string(round);
    REQUIRE(store.begin(id, "{}").ok());
    REQUIRE(store.finish(id, "{}").ok());
    std::atomic<int> inside{0};
    std::atomic<bool> over{false};
    std::vector<std::thread> threads;
    for (int who = 0; who < 3; ++who) {
      threads.emplace_back([&, who] {
        for (int n = 0; !over; ++n) {
          const std::string command = "c" + std::to_string(who) + "-" + std::to_string(n);
          auto st = store.enter(id, command);
          if (!st && st.failure().code() != BH_NOT_FOUND) wrong.add(st.failure().message());
          if (!st) return;
          ++inside, ++entered;
          st = store.note_helper(id, command, 0);
          if (!st && st.failure().code() != BH_NOT_FOUND) wrong.add(st.failure().message());
          std::this_thread::yield();
          --inside;
          store.leave(id, command);
        }
      });
    }
    for (int who = 0; who < 3; ++who) {
      threads.emplace_back([&] {
        FakeCall call(host.raw());
        bulkhead::sdk::Call raw(call.raw());
        auto st = store.destroy(raw, id);
        if (!st) wrong.add(st.failure().message());
        // Nobody is in it any more, and nobody comes.
        if (st && inside != 0) wrong.add("a command was in it after its end");
        over = true;
      });
    }
    for (auto& thread : threads) thread.join();
    if (std::filesystem::exists(folder.path + "/" + id)) wrong.add("something is left of it");
  }
  CHECK(wrong.all.empty());
  CHECK(entered > 0);
}
