// Files inside a sandbox, through the table of each backend: what each function does, and what it
// says where it cannot. What a sandbox may not reach is in box_files_walls_test.cc.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "setting.h"
#include "support/catch.h"
#include "support/sandbox_files.h"
#include "support/skip.h"

using namespace bh_test;
using namespace std::chrono_literals;

namespace {

uint32_t mode_of(const std::string& path) {
  struct stat st {};
  return ::lstat(path.c_str(), &st) == 0 ? st.st_mode & 07777 : 0xFFFF;
}

// A temporary file of a write that is over.
std::string no_temporary(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.rfind(".bulkhead-", 0) == 0) return name;
  }
  return {};
}

}  // namespace

TEST_CASE("files in a sandbox: write, stat, read, ranges, append, new, modes") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  CAPTURE(provider);
  Setting s(provider);
  BoxFiles files(s.backend);
  REQUIRE(files.table() != nullptr);
  const std::string path = s.work + "/a.txt";

  Filed did = files.write(path, "hello world");
  INFO(did.message);
  REQUIRE(did.status == BH_OK);
  CHECK(read(path) == "hello world");
  CHECK(mode_of(path) == 0644);
  struct stat st {};
  ::stat(path.c_str(), &st);
  CHECK(st.st_uid == ::geteuid());

  did = files.stat(path);
  REQUIRE(did.files.size() == 1);
  CHECK(did.files[0].kind == BH_FILE_REGULAR);
  CHECK(did.files[0].name.empty());
  CHECK(did.files[0].size == 11);
  CHECK(did.files[0].mode == 0644);
  CHECK(did.files[0].modified_ns == st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec);
  CHECK_FALSE(did.files[0].owner.empty());

  CHECK(files.read(path).data == "hello world");
  CHECK(files.read(path, 6).data == "world");
  CHECK(files.read(path, 6, 3).data == "wor");
  CHECK(files.read(path, 0, 0).data.empty());
  CHECK(files.read(path, 100).status == BH_OK);
  CHECK(files.read(path, 100).data.empty());

  CHECK(files.write(path, "!", BH_FILE_APPEND).status == BH_OK);
  CHECK(read(path) == "hello world!");
  // What replaces it keeps its mode; a mode that is given counts.
  ::chmod(path.c_str(), 0600);
  CHECK(files.write(path, "two").status == BH_OK);
  CHECK(mode_of(path) == 0600);
  CHECK(files.write(path, "three", 0, 0751).status == BH_OK);
  CHECK(mode_of(path) == 0751);
  CHECK(read(path) == "three");

  did = files.write(path, "x", BH_FILE_NEW);
  CHECK(did.status == BH_ALREADY_EXISTS);
  CHECK(did.reason == "file_exists");
  CHECK(read(path) == "three");
  CHECK(files.write(s.work + "/b", "", BH_FILE_NEW).status == BH_OK);
  CHECK(read(s.work + "/b").empty());
  CHECK(files.write(s.work + "/c", "c", BH_FILE_NEW | BH_FILE_APPEND).status == BH_OK);
  CHECK(read(s.work + "/c") == "c");

  did = files.write(s.work + "/deep/er/file", "x");
  CHECK(did.status == BH_NOT_FOUND);
  CHECK(did.reason == "file_not_found");
  CHECK(files.write(s.work + "/deep/er/file", "x", BH_FILE_PARENTS).status == BH_OK);
  CHECK(mode_of(s.work + "/deep/er") == 0755);

  did = files.write(s.work + "/deep", "x");
  CHECK(did.status == BH_FAILED_PRECONDITION);
  CHECK(did.reason == "is_folder");
  CHECK(files.read(s.work + "/deep").reason == "is_folder");
  CHECK(files.read(s.work + "/none").reason == "file_not_found");
  CHECK(files.read(path + "/below").reason == "not_a_folder");
  CHECK(files.read("relative").reason == "path_invalid");
  CHECK(files.write(s.work + "/x", "x", 0, BH_MODE_KEEP, "no-such-user").reason ==
        "owner_unsupported");
  CHECK_FALSE(exists(s.work + "/x"));
  CHECK(files.write(s.work + "/x", "x", 64).reason == "unknown_flag");
  CHECK(no_temporary(s.work).empty());
}

TEST_CASE("files in a sandbox: what is streamed in") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  CAPTURE(provider);
  Setting s(provider);
  BoxFiles files(s.backend);
  std::string bytes(3000000, 'x');
  for (size_t i = 0; i < bytes.size(); i += 7) bytes[i] = static_cast<char>(i);
  files.script = [&](testing::FakeCall& call) { call.input(bytes, 50000); };
  const std::string path = s.work + "/big";
  Filed did = files.write(path, "", BH_FILE_INPUT);
  INFO(did.message);
  REQUIRE(did.status == BH_OK);
  CHECK(read(path) == bytes);
  CHECK(files.read(path).data == bytes);
  CHECK(files.read(path, 65530, 100000).data == bytes.substr(65530, 100000));

  // A path that cannot be: nobody is made to send anything for it.
  did = files.write(s.work + "/no/where", "", BH_FILE_INPUT);
  CHECK(did.reason == "file_not_found");
}

TEST_CASE("files in a sandbox: folders, lists, modes, moves and removal") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  CAPTURE(provider);
  Setting s(provider);
  BoxFiles files(s.backend);
  const std::string top = s.work + "/top";
  CHECK(files.make_folder(top).status == BH_OK);
  CHECK(mode_of(top) == 0755);
  CHECK(files.make_folder(top).reason == "file_exists");
  CHECK(files.make_folder(top, BH_FILE_PARENTS).status == BH_OK);
  CHECK(files.make_folder(top + "/x/y/", BH_FILE_PARENTS, 0700).status == BH_OK);
  CHECK(mode_of(top + "/x/y") == 0700);
  CHECK(mode_of(top + "/x") == 0755);
  CHECK(files.write(top + "/x/f", "four").status == BH_OK);
  CHECK(files.make_folder(top + "/x/f", BH_FILE_PARENTS).reason == "not_a_folder");
  ::symlink("x/f", (top + "/link").c_str());
  ::symlink("/nowhere", (top + "/loose").c_str());

  Filed did = files.list(top);
  REQUIRE(did.files.size() == 3);
  CHECK(did.files[0].name == "link");
  CHECK(did.files[0].kind == BH_FILE_SYMLINK);
  CHECK(did.files[0].target == "x/f");
  CHECK(did.files[1].name == "loose");
  CHECK(did.files[2].name == "x");
  CHECK(did.files[2].kind == BH_FILE_DIRECTORY);
  did = files.list(top, 3);
  REQUIRE(did.files.size() == 5);
  CHECK(did.files[3].name == "x/f");
  CHECK(did.files[3].size == 4);
  CHECK(did.files[4].name == "x/y");
  CHECK(files.list(top + "/x/f").reason == "not_a_folder");

  CHECK(files.stat(top + "/link").files.at(0).kind == BH_FILE_REGULAR);
  CHECK(files.stat(top + "/link", BH_FILE_NO_FOLLOW).files.at(0).target == "x/f");
  CHECK(files.stat(top + "/loose").reason == "file_not_found");
  CHECK(files.read(top + "/link").data == "four");
  // Through a link to its target, which stays what it is; without following, the link goes.
  CHECK(files.write(top + "/link", "five").status == BH_OK);
  CHECK(read(top + "/x/f") == "five");
  CHECK(files.write(top + "/link", "six", BH_FILE_NO_FOLLOW).status == BH_OK);
  CHECK(read(top + "/x/f") == "five");
  CHECK(files.stat(top + "/link", BH_FILE_NO_FOLLOW).files.at(0).kind == BH_FILE_REGULAR);

  CHECK(files.set_access(top + "/x/f", 0640).status == BH_OK);
  CHECK(mode_of(top + "/x/f") == 0640);
  CHECK(files.set_access(top + "/none", 0640).reason == "file_not_found");

  did = files.rename(top + "/x/f", top + "/link", BH_FILE_NEW);
  CHECK(did.status == BH_ALREADY_EXISTS);
  CHECK(files.rename(top + "/x/f", top + "/new/g").reason == "file_not_found");
  CHECK(files.rename(top + "/x/f", top + "/new/g", BH_FILE_PARENTS).status == BH_OK);
  CHECK(files.rename(top + "/new/g", top + "/link").status == BH_OK);
  CHECK(read(top + "/link") == "five");
  CHECK(files.rename("/", top + "/root").reason == "path_invalid");

  CHECK(files.remove(top + "/x").reason == "is_folder");
  CHECK(files.remove(top + "/none").reason == "file_not_found");
  CHECK(files.remove(top + "/loose").status == BH_OK);
  CHECK(files.remove(top + "/..", BH_FILE_RECURSIVE).reason == "path_invalid");
  s.folder.write("kept/file", "kept");
  ::symlink((s.folder.path() + "/kept").c_str(), (top + "/x/y/out").c_str());
  ::chmod((top + "/x/y").c_str(), 0500);
  CHECK(files.remove(top, BH_FILE_RECURSIVE).status == BH_OK);
  CHECK_FALSE(exists(top));
  CHECK(exists(s.folder.path() + "/kept/file"));
}

TEST_CASE("files in a sandbox: names are bytes, and pipes and devices are no files") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  CAPTURE(provider);
  Setting s(provider);
  BoxFiles files(s.backend);
  const std::string odd = std::string("\xff\xfe") + "\n odd";
  CHECK(files.write(s.work + "/" + odd, "odd").status == BH_OK);
  Filed did = files.list(s.work);
  REQUIRE(did.files.size() == 1);
  CHECK(did.files[0].name == odd);
  CHECK(files.read(s.work + "/" + odd).data == "odd");
  CHECK(files.remove(s.work + "/" + odd).status == BH_OK);

  REQUIRE(::mkfifo((s.work + "/pipe").c_str(), 0666) == 0);
  for (const std::string& path : {s.work + "/pipe", std::string("/dev/null"), std::string("/dev/zero")}) {
    CAPTURE(path);
    CHECK(files.read(path).reason == "not_a_file");
    CHECK(files.write(path, "x").reason == "not_a_file");
    CHECK(files.write(path, "x", BH_FILE_APPEND).reason == "not_a_file");
  }
  CHECK(files.stat(s.work + "/pipe").files.at(0).kind == BH_FILE_OTHER);
  CHECK(files.write(s.work + "/" + std::string(300, 'n'), "x").reason == "path_invalid");
  CHECK(files.write(std::string(300000, '/') + "x", "x").reason == "path_invalid");
}

TEST_CASE("files in a sandbox: between two of its file systems a file is moved as a copy") {
  BH_NEEDS("bwrap");
  Setting s("bwrap");
  BoxFiles files(s.backend);
  CHECK(files.write("/dev/shm/f", "moved", 0, 0711).status == BH_OK);
  // One worker's shared memory is not the next one's: it has to be the same, which idles.
  const Filed did = files.rename("/dev/shm/f", s.work + "/f", BH_FILE_NEW);
  CHECK(did.status == BH_OK);
  CHECK(read(s.work + "/f") == "moved");
  CHECK(mode_of(s.work + "/f") == 0711);
  CHECK(files.stat("/dev/shm/f").reason == "file_not_found");
}

TEST_CASE("files in a sandbox: a cancelled call ends at once and leaves nothing behind") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  CAPTURE(provider);
  Setting s(provider);
  BoxFiles files(s.backend);
  REQUIRE(files.write(s.work + "/f", std::string(10000000, 'x')).status == BH_OK);
  const auto before = std::chrono::steady_clock::now();
  files.script = [](testing::FakeCall& call) { call.stop_at_emit(3); };
  CHECK(files.read(s.work + "/f").status == BH_CANCELLED);
  files.script = [](testing::FakeCall& call) { call.stop(BH_DEADLINE_EXCEEDED); };
  CHECK(files.read(s.work + "/f").status == BH_DEADLINE_EXCEEDED);
  CHECK(files.write(s.work + "/g", "x").status == BH_DEADLINE_EXCEEDED);
  CHECK(std::chrono::steady_clock::now() - before < 4s);
  CHECK_FALSE(exists(s.work + "/g"));
  CHECK(no_temporary(s.work).empty());
  files.script = nullptr;
  CHECK(files.read(s.work + "/f", 0, 3).data == "xxx");
}

TEST_CASE("files in a sandbox: a worker is no command, and destroy() ends it") {
  const std::string provider = GENERATE("ns", "bwrap", "landlock", "process");
  BH_NEEDS(provider);
  CAPTURE(provider);
  Setting s(provider);
  BoxFiles files(s.backend);
  REQUIRE(files.write(s.work + "/f", "x").status == BH_OK);
  // One waits now: signals for commands do not reach it, and are told to reach nobody.
  CHECK(s.backend.signal("s1", "", SIGTERM) == BH_NOT_FOUND);
  CHECK(files.read(s.work + "/f").data == "x");

  // A second process of the same owner destroys what this one keeps warm, and a read in progress.
  Backend other(provider, s.backend.state());
  REQUIRE(files.write(s.work + "/big", std::string(30000000, 'x')).status == BH_OK);
  std::atomic<bool> started{false};
  Filed read;
  std::thread reader([&] {
    BoxFiles mine(s.backend);
    mine.script = [&](testing::FakeCall& call) {
      // A reader that takes its time: the pipe is full when the sandbox ends.
      static bh_call_api slow;
      slow = *call.raw()->api;
      slow.emit = [](bh_call*, int32_t, const void*, size_t) -> bh_status {
        std::this_thread::sleep_for(20ms);
        return BH_OK;
      };
      call.raw()->api = &slow;
      started = true;
    };
    read = mine.read(s.work + "/big");
  });
  while (!started) std::this_thread::sleep_for(5ms);
  std::this_thread::sleep_for(300ms);
  const bh_status destroyed = other.destroy("s1");
  reader.join();
  CHECK(destroyed == BH_OK);
  CHECK(read.status == BH_FAILED_PRECONDITION);
  CHECK(read.reason == "sandbox_ended");
  const Filed after = files.read(s.work + "/f");
  CHECK(after.status == BH_NOT_FOUND);
  CHECK(after.reason == "sandbox_not_found");
}
