// Files inside a sandbox: what its rules keep from its commands, they keep from the host's own look
// into it; and what goes through is streamed.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "support/catch.h"
#include "support/sandbox_files.h"
#include "support/skip.h"

using namespace bh_test;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

#define BH_NEEDS(provider)                                         \
  do {                                                             \
    const std::string why = Backend(provider).unavailable();       \
    if (!why.empty()) BH_SKIP(std::string(provider) + ": " + why); \
  } while (false)

struct Walls {
  explicit Walls(const std::string& more = "") : backend("bwrap"), work(folder.make("work")) {
    profile = R"({"workspace":{"source":)" + quote(work) + "}" + more + "}";
  }
  void make() {
    const bh_status st = backend.create("s1", profile);
    INFO(backend.message);
    REQUIRE(st == BH_OK);
  }
  ~Walls() { CHECK(backend.destroy("s1") == BH_OK); }
  Folder folder;
  Backend backend;
  std::string work, profile;
};

std::string rule(const std::string& path, const std::string& access) {
  return R"({"path":)" + quote(path) + R"(,"access":")" + access + "\"}";
}

// Memory that this process ever had, in KiB.
long peak_kib() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss;
}

}  // namespace

TEST_CASE("walls: hidden keys, other people's files and hidden folders stay closed to file calls") {
  BH_NEEDS("bwrap");
  Folder home;
  home.write(".ssh/id_ed25519", "KEY");
  ::chmod(home.path().c_str(), 0755);
  const char* before = ::getenv("HOME");
  const std::string old = before != nullptr ? before : "";
  ::setenv("HOME", home.path().c_str(), 1);
  {
    Walls w;
    const std::string secret = w.folder.write("data/state/secret", "SECRET");
    w.profile.insert(w.profile.size() - 1,
                     R"(,"hide":[)" + quote(w.folder.path() + "/data") + "]");
    w.make();
    BoxFiles files(w.backend);
    const std::string key = home.path() + "/.ssh/id_ed25519";
    ::symlink(key.c_str(), (w.work + "/key").c_str());
    ::symlink(secret.c_str(), (w.work + "/secret").c_str());
    for (const std::string& path :
         {key, secret, w.work + "/key", w.work + "/secret", std::string("/proc/self/root") + key,
          std::string("/proc/1/root") + secret}) {
      CAPTURE(path);
      const Filed did = files.read(path);
      CHECK(did.status != BH_OK);
      CHECK(did.data.empty());
      CHECK(files.write(path, "changed").status != BH_OK);
      CHECK(files.write(path, "changed", BH_FILE_APPEND).status != BH_OK);
    }
    for (const std::string& path : {home.path() + "/.ssh", w.folder.path() + "/data"}) {
      CAPTURE(path);
      CHECK(files.list(path, 5).files.empty());
      CHECK(files.remove(path, BH_FILE_RECURSIVE).status != BH_OK);
    }
    CHECK(read(key) == "KEY");
    CHECK(read(secret) == "SECRET");
    // Root's own files, which the kernel would show to the host.
    if (::geteuid() == 0 && exists("/etc/shadow")) {
      const Filed did = files.read("/etc/shadow");
      CAPTURE(did.reason);
      CHECK(did.data.empty());
      // Where ids cannot be mapped (a root that is an overlay) it is masked, by a device.
      CHECK((did.reason == "file_denied" || did.reason == "not_a_file"));
    }
    CHECK(files.write("/etc/bulkhead-test", "x").reason == "read_only");
    CHECK(files.set_access("/etc/passwd", 0666).status == BH_PERMISSION_DENIED);
    CHECK(files.write(w.work + "/suid", "x", 0, 04755).status == BH_PERMISSION_DENIED);
    CHECK_FALSE(exists(w.work + "/suid"));
  }
  ::setenv("HOME", old.c_str(), 1);
}

TEST_CASE("walls: a rule that makes read-only holds for writing, moving and removing") {
  BH_NEEDS("bwrap");
  Walls w;
  w.folder.write("work/ro/file", "kept");
  w.folder.write("work/one", "kept");
  w.profile.insert(w.profile.size() - 1, R"(,"files":[)" + rule(w.work + "/ro", "ro") + "," +
                                             rule(w.work + "/one", "ro") + "]");
  w.make();
  BoxFiles files(w.backend);
  CHECK(files.read(w.work + "/ro/file").data == "kept");
  for (const std::string& path : {w.work + "/ro/file", w.work + "/one", w.work + "/ro/new"}) {
    CAPTURE(path);
    CHECK(files.write(path, "changed").reason == "read_only");
    CHECK(files.write(path, "changed", BH_FILE_APPEND).status != BH_OK);
    CHECK(files.rename(path, w.work + "/moved").status != BH_OK);
    CHECK(files.remove(path).status != BH_OK);
  }
  CHECK(files.write(w.work + "/other", "x").status == BH_OK);
  CHECK(files.rename(w.work + "/other", w.work + "/one").status != BH_OK);
  CHECK(files.remove(w.work + "/ro", BH_FILE_RECURSIVE).status != BH_OK);
  CHECK(files.make_folder(w.work + "/ro/sub").reason == "read_only");
  CHECK(read(w.work + "/ro/file") == "kept");
  CHECK(read(w.work + "/one") == "kept");
  // The workspace is mounted and cannot go: then nothing in it goes.
  CHECK(files.write(w.work + "/own", "kept").status == BH_OK);
  CHECK(files.remove(w.work, BH_FILE_RECURSIVE).status != BH_OK);
  CHECK(read(w.work + "/own") == "kept");
}

TEST_CASE("walls: links that a command swaps all the time lead nowhere outside") {
  BH_NEEDS("bwrap");
  Walls w;
  const std::string outside = w.folder.make("outside");
  w.folder.write("outside/file", "kept");
  ::chmod((outside + "/file").c_str(), 0666);
  ::chmod(outside.c_str(), 0777);
  w.profile.insert(w.profile.size() - 1, R"(,"hide":[)" + quote(outside) + "]");
  w.make();
  std::atomic<bool> end{false};
  std::thread command([&] {
    Command swap;
    swap.id = "swap";
    swap.argv = {"/bin/sh", "-c",
                 "mkdir -p real; echo inside > real/file; ln -sfn \"$0\" link; while :; do mv -T real "
                 "way 2>/dev/null; mv -T way real; mv -T link way 2>/dev/null; mv -T way link; done",
                 outside};
    (void)w.backend.run("s1", swap);
    end = true;
  });
  BoxFiles files(w.backend);
  int found = 0;
  for (int i = 0; i < 300 && !end; ++i) {
    const Filed did = files.read(w.work + "/way/file");
    CHECK(did.data.find("kept") == std::string::npos);
    found += did.status == BH_OK ? 1 : 0;
    (void)files.write(w.work + "/way/file", "written");
    (void)files.write(w.work + "/way/new", "written");
    (void)files.make_folder(w.work + "/way/made/more", BH_FILE_PARENTS);
    (void)files.set_access(w.work + "/way/file", 0600);
    (void)files.remove(w.work + "/way/made", BH_FILE_RECURSIVE);
  }
  CHECK_FALSE(end);
  (void)w.backend.signal("s1", "swap", SIGKILL);
  command.join();
  CHECK(found > 0);
  CHECK(read(outside + "/file") == "kept");
  CHECK(std::distance(fs::directory_iterator(outside), fs::directory_iterator()) == 1);
  struct stat st {};
  ::stat((outside + "/file").c_str(), &st);
  CHECK((st.st_mode & 0777) == 0666);
}

TEST_CASE("walls: what a limit or a full disk cuts off is told, and nothing half stays") {
  BH_NEEDS("bwrap");
  Walls w(R"(,"limits":{"disk_bytes":1000000,"memory_bytes":67108864})");
  w.make();
  BoxFiles files(w.backend);
  CHECK(files.write(w.work + "/f", std::string(900000, 'x')).status == BH_OK);
  Filed did = files.write(w.work + "/f", std::string(1100000, 'y'));
  CHECK(did.status == BH_RESOURCE_EXHAUSTED);
  CHECK(did.reason == "no_space");
  CHECK(read(w.work + "/f") == std::string(900000, 'x'));
  // Streamed: its sender is told, and the next call finds a worker that speaks.
  files.script = [](testing::FakeCall& call) { call.input(std::string(20000000, 'z')); };
  did = files.write(w.work + "/g", "", BH_FILE_INPUT);
  CHECK(did.reason == "no_space");
  CHECK(did.input_ended);
  CHECK_FALSE(exists(w.work + "/g"));
  files.script = nullptr;
  // A file system of 32 MiB, which files of 900 kB fill.
  const std::string part(900000, 'x');
  int written = 0;
  for (; written < 60; ++written) {
    did = files.write("/dev/shm/f" + std::to_string(written), part);
    if (did.status != BH_OK) break;
  }
  CHECK(written > 10);
  CHECK(written < 60);
  CHECK(did.status == BH_RESOURCE_EXHAUSTED);
  CHECK(did.reason == "no_space");
  CHECK(files.stat("/dev/shm/f" + std::to_string(written)).reason == "file_not_found");
  CHECK(std::distance(fs::directory_iterator(w.work), fs::directory_iterator()) == 1);
}

TEST_CASE("walls: 1 GiB goes both ways in bounded memory") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  CAPTURE(provider);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  BH_SKIP("memory is not what it is, under a sanitizer");
#endif
  constexpr uint64_t kSize = uint64_t{1} << 30;
  Folder folder;
  struct statvfs space {};
  ::statvfs(folder.path().c_str(), &space);
  if (space.f_bavail * space.f_frsize < 3 * kSize) BH_SKIP("less than 3 GiB of disk are free");
  Backend backend(provider);
  const std::string work = folder.make("work");
  REQUIRE(backend.create("s1", R"({"workspace":{"source":)" + quote(work) + "}}") == BH_OK);
  static uint64_t sent, taken;
  sent = taken = 0;
  static bh_call_api endless;
  BoxFiles files(backend);
  files.script = [](testing::FakeCall& call) {
    endless = *call.raw()->api;
    endless.emit = [](bh_call*, int32_t, const void*, size_t size) -> bh_status {
      taken += size;
      return BH_OK;
    };
    endless.receive = [](bh_call*, void* to, size_t size, size_t* got) -> bh_status {
      *got = std::min<uint64_t>(size, kSize - sent);
      std::memset(to, 'g', *got);
      sent += *got;
      return BH_OK;
    };
    call.raw()->api = &endless;
  };
  REQUIRE(files.read("/etc/hostname").status != BH_UNKNOWN);
  taken = 0;
  const long before = peak_kib();
  Filed did = files.write(work + "/big", "", BH_FILE_INPUT);
  INFO(did.message);
  CHECK(did.status == BH_OK);
  CHECK(fs::file_size(work + "/big") == kSize);
  CHECK(files.read(work + "/big").status == BH_OK);
  CHECK(taken == kSize);
  CHECK(peak_kib() - before < 8 * 1024);
  CHECK(backend.destroy("s1") == BH_OK);
}
