// The parts that isolation backends share, on trees and texts of the test's own.
#include <bulkhead/sdk/isolation/aliases.hpp>
#include <bulkhead/sdk/isolation/cgroup.hpp>
#include <bulkhead/sdk/isolation/environment.hpp>
#include <bulkhead/sdk/isolation/launch.hpp>
#include <bulkhead/sdk/isolation/launch_job.hpp>
#include <bulkhead/sdk/isolation/profile.hpp>
#include <thread>

#include "support/catch.h"
#include "support/sandboxes.h"
#include "support/skip.h"
#include "support/syscall_answer.h"

using namespace bh_test;
namespace isolation = bulkhead::sdk::isolation;

TEST_CASE("paths are cleaned as text, and .. is refused") {
  auto clean = [](const std::string& path) {
    auto result = isolation::clean_path(path, "field");
    return result ? *result : "refused: " + result.failure().details();
  };
  CHECK(clean("/a//b/./c/") == "/a/b/c");
  CHECK(clean("/") == "/");
  for (const std::string& bad :
       std::vector<std::string>{"", "a", "~/x", "/a/../b", "/..", std::string("/a\0b", 4)}) {
    CHECK(clean(bad).find("\"field\":\"field\"") != std::string::npos);
  }
  CHECK(isolation::is_within("/a/b", "/a"));
  CHECK(isolation::is_within("/a", "/a"));
  CHECK_FALSE(isolation::is_within("/ab", "/a"));
  CHECK(isolation::is_within("/x", "/"));
  CHECK(isolation::rest_of("/a/b", "/") == "a/b");
  // A folder comes right before what lies in it.
  CHECK(isolation::before("/a", "/a/b"));
  CHECK(isolation::before("/a/b", "/a-b"));
}

TEST_CASE("the environment's patterns") {
  const isolation::Variables host = {{"LANG", "1"}, {"LC_ALL", "2"}, {"LCX", "3"}, {"KEY", "4"}};
  const auto out = isolation::allowed(host, {"LANG", "LC_*", "NOTHING"});
  CHECK(out.size() == 2);
  CHECK(out.count("LC_ALL") == 1);
  CHECK(isolation::allowed(host, {"*"}).size() == 4);
}

TEST_CASE("a job arrives as it was sent, and a cut one does not") {
  isolation::Job job;
  job.uid = 7;
  job.program = {"a", "", std::string("\0x", 2)};
  isolation::Source source;
  source.path = "/p";
  source.inode = UINT64_MAX;
  source.inner.push_back({isolation::InnerMount::kHide, 1, 2, 3, "in/ner"});
  job.sources.push_back(source);
  const std::string bytes = isolation::encode(job);
  isolation::Job back;
  REQUIRE(isolation::decode(bytes, back));
  CHECK(isolation::encode(back) == bytes);
  CHECK(back.sources[0].inner[0].path == "in/ner");
  for (size_t n = 0; n < bytes.size(); ++n) {
    isolation::Job cut;
    CHECK_FALSE(isolation::decode(bytes.substr(0, n), cut));
  }
}

TEST_CASE("where the unified control groups can be made") {
  Folder tree;
  auto info = [&](const std::string& root) {
    return "30 20 0:26 " + root + " " + tree.path() + " rw - cgroup2 cgroup2 rw\n";
  };
  // The root of a tree hands out what it has, also while it holds processes.
  tree.write("cgroup.controllers", "cpuset cpu io memory pids\n");
  tree.write("cgroup.subtree_control", "\n");
  auto place = isolation::find_cgroups(info("/"), "0::/\n");
  CHECK(place.version == 2);
  CHECK(place.base.at("memory") == tree.path());
  CHECK(place.has("pids"));

  // Our own group holds us: the nearest one above that hands controllers out is taken.
  tree.write("slice/cgroup.type", "domain\n");
  tree.write("slice/cgroup.subtree_control", "memory pids\n");
  tree.write("slice/cgroup.controllers", "cpu memory pids\n");
  tree.write("slice/own/cgroup.type", "domain\n");
  tree.write("slice/own/cgroup.subtree_control", "\n");
  place = isolation::find_cgroups(info("/"), "0::/slice/own\n");
  CHECK(place.version == 2);
  CHECK(place.base.at("memory") == tree.path() + "/slice");
  CHECK_FALSE(place.has("cpu"));

  CHECK(isolation::find_cgroups("", "").version == 0);
}

TEST_CASE("the old control groups, one by one") {
  Folder tree;
  const std::string memory = tree.make("memory/us"), pids = tree.make("pids");
  const std::string info = "31 20 0:27 / " + tree.path() +
                           "/memory rw - cgroup cgroup rw,memory\n" + "32 20 0:28 / " + pids +
                           " rw - cgroup cgroup rw,pids\n" +
                           "33 20 0:29 / /no/such/folder rw - cgroup cgroup rw,cpu,cpuacct\n";
  const auto place =
      isolation::find_cgroups(info, "5:memory:/us\n4:pids:/elsewhere/x\n3:cpu,cpuacct:/\n");
  CHECK(place.version == 1);
  CHECK(place.base.at("memory") == memory);
  CHECK_FALSE(place.has("cpu"));
  // Nothing to wait for: see Cgroup::doors().
  CHECK(place.own.empty());
}

TEST_CASE("a command joins by the file that its version has for that") {
  Folder tree;
  isolation::CgroupPlace place;
  for (const char* name : {"memory", "pids"}) place.base[name] = tree.make(name);
  for (const std::string group : {"memory/box/", "pids/box/"}) {
    for (const char* file : {"tasks", "cgroup.procs"}) tree.write(group + file, "");
  }
  auto join = [&](int version) {
    place.version = version;
    const auto doors = isolation::Cgroup(place, "box").doors();
    REQUIRE(doors);
    CHECK(doors->size() == 2);
    for (const auto& door : *doors) CHECK(isolation::write_all(door.get(), "0"));
  };
  join(1);
  CHECK(read(tree.path() + "/memory/box/tasks") == "0");
  CHECK(read(tree.path() + "/pids/box/tasks") == "0");
  CHECK(read(tree.path() + "/memory/box/cgroup.procs").empty());
  join(2);
  CHECK(read(tree.path() + "/memory/box/cgroup.procs") == "0");
  CHECK(read(tree.path() + "/pids/box/cgroup.procs") == "0");
}

TEST_CASE("limits are written where each version keeps them") {
  Folder tree;
  isolation::CgroupPlace place;
  place.version = 2;
  for (const char* name : {"memory", "pids", "cpu"}) place.base[name] = tree.path();
  const isolation::Cgroup group(place, "box");
  // A real tree brings its files along; here they are made beforehand.
  for (const std::string file : {"memory.max", "memory.swap.max", "pids.max", "cpu.max"}) {
    tree.write("box/" + file, "");
  }
  tree.write("cgroup.subtree_control", "");
  isolation::Limits limits;
  limits.memory_bytes = 1000;
  limits.pids = 7;
  limits.cpu = 0.5;
  CHECK(group.make(true));
  REQUIRE(group.limit(limits));
  CHECK(read(tree.path() + "/box/memory.max") == "1000");
  CHECK(read(tree.path() + "/box/memory.swap.max") == "0");
  CHECK(read(tree.path() + "/box/pids.max") == "7");
  CHECK(read(tree.path() + "/box/cpu.max") == "50000 100000");
  tree.write("box/memory.events", "low 0\noom 2\noom_kill 3\n");
  tree.write("box/cpu.stat", "usage_usec 25\nuser_usec 20\n");
  CHECK(group.usage().memory_kills == 3);
  CHECK(group.usage().cpu_ns == 25000);
  CHECK(group.usage().peak_bytes == -1);
  limits.pids = 8;
  CHECK(group.child("none").limit(limits).code() == BH_FAILED_PRECONDITION);
}

TEST_CASE("a folder's other names are found in the mount table") {
  Folder folder;
  const std::string data = folder.make("data");
  // The same device mounted twice: once as the whole, once from a folder in it.
  const std::string info = "1 0 8:1 / / rw - ext4 disk rw\n2 1 8:1 " + folder.path() + " " +
                           folder.path() + " rw - ext4 disk rw\n3 1 8:2 / /other rw - ext4 x rw\n";
  const isolation::MountTable table(info);
  CHECK(table.aliases(data).empty());
  const std::string spaced = folder.make("with space");
  const isolation::MountTable other("1 0 8:1 / / rw - ext4 disk rw\n2 1 8:1 " + data + " " +
                                    folder.path() + "/with\\040space rw - ext4 disk rw\n");
  // Nothing is mounted there for real, so it is another folder and no alias.
  CHECK(other.aliases(data).empty());
  const isolation::MountTable kinds("1 0 0:5 / /proc rw shared:1 - proc proc rw\n"
                                    "2 0 0:5 / /a\\040b/proc rw - proc proc rw\n"
                                    "3 0 8:1 / / rw - ext4 proc rw\n");
  CHECK(kinds.points_of({"proc", "sysfs"}) == std::vector<std::string>{"/proc", "/a b/proc"});
}

TEST_CASE("a profile's limits and the command's: the tighter one holds") {
  CHECK(*isolation::tighter<int>(3, 2) == 2);
  CHECK(*isolation::tighter<int>(std::nullopt, 2) == 2);
  CHECK_FALSE(isolation::tighter<int>(std::nullopt, std::nullopt));
  auto profile = isolation::parse_profile(R"({"limits":{"cpu":0.5,"pids":3}})");
  REQUIRE(profile);
  CHECK(*profile->limits.cpu == 0.5);
  CHECK(*profile->limits.pids == 3);
  CHECK_FALSE(profile->limits.memory_bytes);
}

TEST_CASE("a helper program is copied and sealed, also where files are not copied inside the kernel") {
  char name[] = "/tmp/bh-parts-XXXXXX";
  isolation::Fd file(::mkstemp(name));
  REQUIRE(file);
  std::string bytes;
  for (int i = 0; i < 50'000; i++) bytes += std::to_string(i);
  REQUIRE(isolation::write_all(file.get(), bytes));
  for (const int error : {0, EINVAL, ENOSYS}) {
    CAPTURE(error);
    bool filtered = true;
    isolation::Fd copy;
    // In a thread of its own, since the filter stays.
    std::thread([&] {
      if (error != 0) filtered = answer_syscall(SYS_sendfile, error);
      if (auto made = isolation::sealed_copy(name)) copy = std::move(*made);
    }).join();
    if (!filtered) BH_SKIP("system calls cannot be filtered here");
    REQUIRE(copy);
    std::string back(bytes.size() + 1, '\0');
    const ssize_t n = ::pread(copy.get(), back.data(), back.size(), 0);
    REQUIRE(n == static_cast<ssize_t>(bytes.size()));
    back.resize(bytes.size());
    CHECK(back == bytes);
    CHECK(::pwrite(copy.get(), "x", 1, 0) < 0);
    CHECK(::ftruncate(copy.get(), 1) < 0);
    CHECK(::fcntl(copy.get(), F_GET_SEALS) ==
          (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE));
  }

  // At the limit it is taken, above it is told.
  const auto most = static_cast<off_t>(isolation::kMostProgram);
  REQUIRE(::ftruncate(file.get(), most) == 0);
  CHECK(isolation::sealed_copy(name));
  REQUIRE(::ftruncate(file.get(), most + 1) == 0);
  auto large = isolation::sealed_copy(name);
  REQUIRE_FALSE(large);
  CHECK(large.failure().code() == BH_RESOURCE_EXHAUSTED);
  CHECK(large.failure().details().find("\"too_large\"") != std::string::npos);
  ::unlink(name);
  auto none = isolation::sealed_copy(name);
  REQUIRE_FALSE(none);
  CHECK(none.failure().details().find("\"memory_file\"") != std::string::npos);
}
