// Many at once: threads, processes, and somebody who moves links about in the store's folder.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include "store_at.h"
#include "support/catch.h"
#include "support/skip.h"

using namespace bh_test;
using Names = std::vector<std::string>;

TEST_CASE("a folder that turns into a link leads nobody outside") {
  TempFolder at, outside;
  StoreAt store(at.path);
  spill(outside.path + "/f", "secret");
  spill(outside.path + "/only-there", "secret");
  REQUIRE(store.put("a/f", "inside").code == BH_OK);
  REQUIRE(store.put("a/keep", "x").code == BH_OK);
  const std::string folder = at.path + "/files/a", link = at.path + "/link";
  REQUIRE(::symlink(outside.path.c_str(), link.c_str()) == 0);
  std::atomic<bool> done{false};
  std::thread swapping([&] {
    while (!done) {
      ::renameat2(AT_FDCWD, folder.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
    }
  });
  int good = 0, refused = 0, odd = 0, leaks = 0;
  std::string what;
  auto count = [&](const Answer& a) {
    if (a.code == BH_OK) ++good;
    // What the kernel calls it depends on where the exchange met it.
    else if (a.has("\"reason\":\"link\"") || a.has("path_escapes")) ++refused;
    else if (a.code != BH_NOT_FOUND && !a.has("not_regular") && !a.has("not_a_folder")) {
      ++odd;
      what += std::to_string(a.code) + " " + a.details + "\n";
    }
  };
  for (int i = 0; i < 1500; ++i) {
    const Answer read = store.get("a/f");
    count(read);
    leaks += read.data == "secret" ? 1 : 0;
    if (i % 5 == 0) {
      count(store.put("a/f", "inside"));
      count(store.put("a/new/f", "inside"));
      count(store.remove("a/new", true));
      count(store.remove("a/f"));
    }
    for (const auto& n : store.names("", true)) leaks += n == "a/only-there" ? 1 : 0;
  }
  done = true;
  swapping.join();
  CHECK(leaks == 0);
  CAPTURE(what);
  CHECK(odd == 0);
  CHECK(good > 0);
  CHECK(refused > 0);
  CHECK(slurp(outside.path + "/f") == "secret");
  CHECK(entries(outside.path).size() == 2);
  CHECK(slurp(outside.path + "/only-there") == "secret");
  CHECK(entries(at.path + "/tmp").empty());
}

TEST_CASE("links, FIFOs, sockets and devices are refused, and nothing waits for them") {
  TempFolder at, outside;
  StoreAt store(at.path);
  spill(outside.path + "/f", "secret");
  REQUIRE(store.put("d/file", "x").code == BH_OK);
  const std::string d = at.path + "/files/d/";
  REQUIRE(::mkfifo((d + "fifo").c_str(), 0600) == 0);
  REQUIRE(::symlink((outside.path + "/f").c_str(), (d + "link").c_str()) == 0);
  REQUIRE(::symlink("file", (d + "near").c_str()) == 0);
  REQUIRE(::symlink("/proc/self/root", (d + "magic").c_str()) == 0);
  Names odd = {"d/fifo", "d/link", "d/near", "d/magic"};
  if (::mknod((d + "null").c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0) odd.push_back("d/null");
  for (const auto& path : odd) {
    INFO(path);
    for (const Answer& a : {store.get(path), store.stat(path), store.put(path, "y"),
                            store.remove(path), store.remove(path, true)}) {
      CHECK(a.code == BH_FAILED_PRECONDITION);
      CHECK((a.has("\"reason\":\"link\"") || a.has("not_regular")));
    }
  }
  CHECK(store.put("d/link/x", "y").code != BH_OK);
  CHECK(store.put("d/magic/tmp/x", "y").code != BH_OK);
  CHECK(store.names("", true) == Names{"d", "d/file"});
  CHECK(store.remove("d", true).code == BH_OK);
  CHECK(slurp(outside.path + "/f") == "secret");
  CHECK(entries(at.path + "/tmp").empty());
}

TEST_CASE("64 writers at one name: one content whole, one winner where it must be new") {
  TempFolder at;
  StoreAt store(at.path, R"(,"max_files":1)");
  std::vector<Answer> answers(64), fresh(64);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 64; ++i) {
    threads.emplace_back([&, i] {
      fresh[i] = store.put("p/f", "first", "*");
      answers[i] = store.put("p/f", std::string(3000 + i, static_cast<char>('0' + i)));
    });
  }
  for (auto& t : threads) t.join();
  int winners = 0;
  std::set<std::string> etags;
  for (size_t i = 0; i < 64; ++i) {
    winners += fresh[i].code == BH_OK ? 1 : 0;
    CHECK((fresh[i].code == BH_OK || fresh[i].code == BH_ALREADY_EXISTS));
    CHECK(answers[i].code == BH_OK);
    etags.insert(answers[i].etag);
  }
  CHECK(winners <= 1);
  CHECK(etags.size() == 64);
  const std::string last = store.get("p/f").data;
  REQUIRE(last.size() >= 3000);
  CHECK(last == std::string(last.size(), static_cast<char>('0' + last.size() - 3000)));
  CHECK(entries(at.path + "/tmp").empty());
  // The record is exact after all of that.
  REQUIRE(store.remove("p/f").code == BH_OK);
  CHECK(slurp(at.path + "/usage").rfind("1 0 0 ", 0) == 0);
}

TEST_CASE("two processes with etags lose no change of each other's") {
  TempFolder at;
  {
    StoreAt store(at.path);
    REQUIRE(store.put("n", "0").code == BH_OK);
  }
  auto count_up = [&]() -> std::string {
    StoreAt store(at.path);
    int lost = 0;
    for (int done = 0; done < 40;) {
      Entry e;
      (void)store.stat("n", &e);
      const int n = std::stoi(store.get("n").data);
      // Read between the two is caught too: the etag is the older one.
      const Answer a = store.put("n", std::to_string(n + 1), e.etag);
      if (a.code == BH_OK) ++done;
      else if (a.code == BH_ABORTED) ++lost;
      else return "failed: " + a.message;
    }
    return "done";
  };
  // One more process in between, so that both run beside each other.
  const std::string both = in_child([&]() -> std::string {
    const pid_t other = ::fork();
    if (other == 0) ::_exit(count_up() == "done" ? 0 : 1);
    const std::string mine = count_up();
    int status = 1;
    ::waitpid(other, &status, 0);
    return mine + (status == 0 ? " done" : " failed");
  });
  CHECK(both == "done done");
  StoreAt store(at.path);
  CHECK(store.get("n").data == "80");
}

TEST_CASE("killed in the middle of a write: the old content stands, nothing is left") {
  TempFolder at;
  {
    StoreAt store(at.path);
    REQUIRE(store.put("f", "old", "", "a/b").code == BH_OK);
  }
  const std::string said = in_child([&]() -> std::string {
    StoreAt store(at.path);
    Pouring call(store.host.raw(), 8 << 20, [](int64_t pos) {
      if (pos >= 5 << 20) ::kill(::getpid(), SIGKILL);
      return BH_OK;
    });
    (void)store.pour(call, "f");
    return "alive";
  });
  CHECK(said == "killed");
  CHECK(entries(at.path + "/tmp").size() == 1);
  StoreAt store(at.path, R"(,"max_bytes":1048579)");
  CHECK(entries(at.path + "/tmp").empty());
  CHECK(store.get("f").data == "old");
  CHECK(store.put("g", std::string(1 << 20, 'x')).code == BH_OK);  // nothing of it counts
}

TEST_CASE("killed anywhere: one content or the other, whole, and the quota is right") {
  TempFolder at;
  int killed = 0;
  for (int round = 0; round < 40; ++round) {
    const std::string said = in_child([&]() -> std::string {
      const pid_t writer = ::fork();
      if (writer == 0) {
        StoreAt store(at.path);
        for (int i = 0;; ++i) {
          const auto size = static_cast<size_t>(100'000 + i % 7);
          (void)store.put("p/q/f", std::string(size, static_cast<char>('a' + i % 7)));
          if (i % 5 == 4) (void)store.remove(i % 2 != 0 ? "p" : "p/q/f", true);
        }
      }
      ::usleep(static_cast<useconds_t>(3000 + round * 777));
      ::kill(writer, SIGKILL);
      int status = 0;
      ::waitpid(writer, &status, 0);
      return WIFSIGNALED(status) ? "killed" : "ended";
    });
    killed += said == "killed" ? 1 : 0;
    StoreAt store(at.path);
    CHECK(entries(at.path + "/tmp").empty());
    const Answer a = store.get("p/q/f");
    if (a.code == BH_OK) {
      REQUIRE(a.data.size() >= 100'000);
      CHECK(a.data == std::string(a.data.size(), static_cast<char>('a' + a.data.size() - 100'000)));
    } else {
      CHECK(a.code == BH_NOT_FOUND);
    }
    const std::string due = "1 " + std::to_string(a.data.size()) + (a.code == BH_OK ? " 1 " : " 0 ");
    CHECK(slurp(at.path + "/usage").rfind(due, 0) == 0);
  }
  CHECK(killed == 40);
}

TEST_CASE("the dead are tidied up after while others live, and the living are left alone") {
  TempFolder at;
  StoreAt store(at.path, R"(,"max_bytes":8388608)");
  CHECK(in_child([&]() -> std::string {
          StoreAt other(at.path, R"(,"max_bytes":8388608)");
          Pouring call(other.host.raw(), 8 << 20, [](int64_t pos) {
            if (pos >= 6 << 20) ::kill(::getpid(), SIGKILL);
            return BH_OK;
          });
          (void)other.pour(call, "f");
          return "alive";
        }) == "killed");
  // The quota is not short by what the dead one had reserved.
  CHECK(store.put("g", std::string(4 << 20, 'x')).code == BH_OK);
  CHECK(entries(at.path + "/tmp").empty());
  Pouring call(store.host.raw(), 2 << 20, [&](int64_t pos) {
    if (pos == 1 << 20) StoreAt opened(at.path);
    return BH_OK;
  });
  CHECK(store.pour(call, "h").code == BH_OK);
  CHECK(store.get("h").data.size() == 2 << 20);
}

TEST_CASE("writers and removers of one folder, at once") {
  TempFolder at;
  StoreAt store(at.path);
  std::atomic<int> odd{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 60; ++i) {
        const std::string name = "d/e" + std::to_string(i % 3) + "/f" + std::to_string(t);
        const Answer a = t < 4 ? store.put(name, "x") : store.remove(i % 2 ? "d" : "d/e1", true);
        if (a.code != BH_OK && a.code != BH_NOT_FOUND) ++odd;
        (void)store.names("", true);
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(odd == 0);
  (void)store.remove("d", true);
  CHECK(entries(at.path + "/files").empty());
  CHECK(entries(at.path + "/tmp").empty());
  CHECK(slurp(at.path + "/usage").rfind("1 0 0 ", 0) == 0);
}
