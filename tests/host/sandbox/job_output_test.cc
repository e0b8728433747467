#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "sandbox/job_output.h"
#include "sandbox/job_reader.h"
#include "support/catch.h"

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kAny = 1 << 20;

struct Outputs {
  ~Outputs() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  static std::string made() {
    char name[] = "/tmp/bh-jobs-XXXXXX";
    return ::mkdtemp(name);
  }
  const std::string path = made();
  bh::DataRoot root{bh::DataRoot::open(path + "/data").value()};

  bh::JobOutput output(std::int64_t window = bh::JobOutput::kWindow) {
    return bh::JobOutput::make(root, "j-1", window).value();
  }
  std::string folder() const { return path + "/data/jobs/j-1"; }
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder())) {
      const std::string name = entry.path().filename();
      if (bh::job_files::first_byte(name) >= 0) out.push_back(name);
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  std::int64_t on_disk() const {
    std::int64_t all = 0;
    for (const std::string& name : files()) {
      all += static_cast<std::int64_t>(fs::file_size(folder() + "/" + name));
    }
    return all;
  }
};

struct Read {
  std::string out, err;
  std::string order;  // "1" or "2" for each piece
  std::int64_t next = 0, skipped = 0;
};

Read read_all(const Outputs& place, std::int64_t cursor, std::size_t most = kAny) {
  bh::JobReader reader(place.root, "j-1", cursor);
  bh::JobReader::Progress progress;
  const std::int64_t until = reader.progress(&progress) ? progress.bytes : reader.last_byte();
  Read all;
  for (;;) {
    const auto piece = reader.next(until, most);
    if (piece.stream == 0) break;
    (piece.stream == 2 ? all.err : all.out) += piece.data;
    all.order += std::to_string(piece.stream);
  }
  all.next = reader.cursor();
  all.skipped = reader.skipped();
  return all;
}

// Byte n of a stream that no two places of look the same.
std::string numbered(std::int64_t from, std::int64_t size) {
  std::string out;
  for (std::int64_t at = from / 8; static_cast<std::int64_t>(out.size()) < size + from % 8; at++) {
    char word[9];
    std::snprintf(word, sizeof word, "%08lld", static_cast<long long>(at % 100'000'000));
    out += word;
  }
  return out.substr(static_cast<std::size_t>(from % 8), static_cast<std::size_t>(size));
}

}  // namespace

TEST_CASE("a cursor counts the bytes of both streams as they came") {
  Outputs place;
  auto output = place.output();
  output.append(1, "one ");
  output.append(2, "two ");
  output.append(1, "three");
  CHECK(output.bytes() == 13);
  const Read all = read_all(place, 0);
  CHECK(all.out == "one three");
  CHECK(all.err == "two ");
  CHECK(all.order == "121");
  CHECK(all.next == 13);
  CHECK(all.skipped == 0);
  // In the middle of the second, then of the third.
  const Read rest = read_all(place, 6);
  CHECK(rest.err == "o ");
  CHECK(rest.out == "three");
  CHECK(read_all(place, 10).out == "ree");
  CHECK(read_all(place, 10).err.empty());
  CHECK(read_all(place, 13).order.empty());
  // One byte at a time comes to the same.
  const Read slow = read_all(place, 0, 1);
  CHECK(slow.out == "one three");
  CHECK(slow.order == "1111222211111");
}

TEST_CASE("writes of one stream that follow one another come as one piece") {
  Outputs place;
  auto output = place.output();
  for (int i = 0; i < 1000; i++) output.append(1, "x");
  const Read all = read_all(place, 0);
  CHECK(all.out == std::string(1000, 'x'));
  CHECK(all.order == "1");
}

TEST_CASE("the window: old output goes and is counted, what is kept reads the same") {
  Outputs place;
  constexpr std::int64_t kWindow = 256 << 10;
  auto output = place.output(kWindow);
  constexpr std::int64_t kAll = 4 << 20;
  for (std::int64_t at = 0; at < kAll;) {
    const std::int64_t size = std::min<std::int64_t>(1 + at % 9000, kAll - at);
    output.append(1, numbered(at, size));
    at += size;
    REQUIRE(place.on_disk() <= kWindow);
  }
  CHECK(output.bytes() == kAll);
  const std::int64_t kept = output.kept_from();
  CHECK(kAll - kept > kWindow / 2);
  const Read all = read_all(place, 0);
  CHECK(all.skipped == kept);
  CHECK(all.next == kAll);
  CHECK(all.out == numbered(kept, kAll - kept));
  CHECK(read_all(place, kept + 4321).out == numbered(kept + 4321, kAll - kept - 4321));
  CHECK(read_all(place, kAll - 5).out == numbered(kAll - 5, 5));
  bh::JobReader::Progress progress;
  REQUIRE(bh::JobReader(place.root, "j-1", 0).progress(&progress));
  CHECK(progress.kept_from == kept);
  CHECK_FALSE(progress.ended);
  output.end();
  REQUIRE(bh::JobReader(place.root, "j-1", 0).progress(&progress));
  CHECK(progress.ended);
}

TEST_CASE("a reader beside the writer loses nothing that the window holds") {
  Outputs place;
  auto output = place.output(64 << 20);
  constexpr std::int64_t kAll = 8 << 20;
  std::thread writer([&] {
    for (std::int64_t at = 0; at < kAll;) {
      const std::int64_t size = std::min<std::int64_t>(1 + at % 70'000, kAll - at);
      output.append(at % 2 == 0 ? 1 : 2, numbered(at, size));
      at += size;
    }
    output.end();
  });
  bh::JobReader reader(place.root, "j-1", 0);
  std::string got;
  for (bool ended = false; !ended;) {
    bh::JobReader::Progress progress;
    if (!reader.progress(&progress)) break;
    ended = progress.ended;
    for (;;) {
      const auto piece = reader.next(progress.bytes, 50'000);
      if (piece.stream == 0) break;
      got += piece.data;
    }
  }
  writer.join();
  CHECK(reader.skipped() == 0);
  CHECK(reader.cursor() == kAll);
  CHECK((got == numbered(0, kAll)));
}

TEST_CASE("a reader slower than the window: each byte is given right or counted as skipped") {
  Outputs place;
  auto output = place.output(128 << 10);
  constexpr std::int64_t kAll = 6 << 20;
  std::thread writer([&] {
    for (std::int64_t at = 0; at < kAll;) {
      const std::int64_t size = std::min<std::int64_t>(3000, kAll - at);
      output.append(1, numbered(at, size));
      at += size;
    }
    output.end();
  });
  bh::JobReader reader(place.root, "j-1", 0);
  std::int64_t wrong = 0, got = 0;
  for (bool ended = false; !ended;) {
    bh::JobReader::Progress progress;
    if (!reader.progress(&progress)) break;
    ended = progress.ended;
    for (;;) {
      const auto piece = reader.next(progress.bytes, 1000);
      if (piece.stream == 0) break;
      const auto size = static_cast<std::int64_t>(piece.data.size());
      got += size;
      wrong += piece.data != numbered(reader.cursor() - size, size);
    }
  }
  writer.join();
  CHECK(wrong == 0);
  CHECK(reader.cursor() == kAll);
  CHECK(got + reader.skipped() == kAll);
}

TEST_CASE("damaged output: what cannot be read is skipped, the files after it are not touched") {
  Outputs place;
  auto output = place.output(1 << 20);  // files of 64 KiB
  constexpr std::int64_t kAll = 300'000;
  for (std::int64_t at = 0; at < kAll; at += 1000) output.append(1, numbered(at, 1000));
  const auto files = place.files();
  REQUIRE(files.size() > 3);
  const std::int64_t second = bh::job_files::first_byte(files[1]);
  const std::int64_t third = bh::job_files::first_byte(files[2]);

  SECTION("a head") {
    std::fstream file(place.folder() + "/" + files[1]);
    file.seekp(1008 * 3);
    file << "garbage!";
    file.close();
    const Read all = read_all(place, 0);
    CHECK(all.next == kAll);
    CHECK(all.skipped == third - second - 3000);
    CHECK(all.out == numbered(0, second + 3000) + numbered(third, kAll - third));
  }
  SECTION("a size") {
    std::fstream file(place.folder() + "/" + files[1]);
    file.seekp(4);
    file.write("\xff\xff\xff\xff", 4);
    file.close();
    const Read all = read_all(place, 0);
    CHECK(all.skipped == third - second);
    CHECK(all.next == kAll);
  }
  SECTION("a file that is cut short") {
    fs::resize_file(place.folder() + "/" + files[1], 1008 + 500);
    const Read all = read_all(place, 0);
    CHECK(all.out == numbered(0, second + 1492 - 0) + numbered(third, kAll - third));
    CHECK(all.skipped == third - second - 1492);
  }
  SECTION("a file that is gone") {
    fs::remove(place.folder() + "/" + files[1]);
    CHECK(read_all(place, 0).skipped == third - second);
  }
  SECTION("the progress") {
    std::ofstream(place.folder() + "/progress") << "nonsense";
    bh::JobReader::Progress progress;
    CHECK_FALSE(bh::JobReader(place.root, "j-1", 0).progress(&progress));
    CHECK((read_all(place, 0).out == numbered(0, kAll)));
    // The next output mends it.
    output.append(1, "more");
    REQUIRE(bh::JobReader(place.root, "j-1", 0).progress(&progress));
    CHECK(progress.bytes == kAll + 4);
  }
  SECTION("names that are none of ours, and links") {
    fs::create_symlink("/etc/passwd", place.folder() + "/" + bh::job_files::name(5));
    std::ofstream(place.folder() + "/out-xyz") << "y";
    fs::create_directory(place.folder() + "/" + bh::job_files::name(6));
    const Read all = read_all(place, 0);
    CHECK(all.next == kAll);
    CHECK(all.out.find("root:") == std::string::npos);
  }
  SECTION("all of it") {
    fs::remove_all(place.folder());
    bh::JobReader reader(place.root, "j-1", 7);
    CHECK(reader.last_byte() == 0);
    CHECK(reader.next(100, 10).stream == 0);
    CHECK(reader.skipped() == 93);
  }
}

TEST_CASE("where the disk takes no more the bytes are counted, and what comes later is kept again") {
  Outputs place;
  auto output = place.output();
  output.append(1, "before ");
  // A limit on file sizes stands for the full disk: writing beyond it fails in the same way.
  rlimit was{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &was) == 0);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = was;
  small.rlim_cur = 40;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  for (int i = 0; i < 50; i++) output.append(2, std::string(1000, 'x'));
  const auto files = place.files().size();
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &was) == 0);
  std::signal(SIGXFSZ, old);
  output.append(1, "after");
  CHECK(output.bytes() == 50'012);
  CHECK(files < 60);
  const Read all = read_all(place, 0);
  CHECK(all.out == "before after");
  CHECK(all.next == 50'012);
  CHECK(all.skipped + static_cast<std::int64_t>(all.err.size()) == 50'000);
  CHECK(all.skipped > 40'000);
}

TEST_CASE("bytes that never came here are counted too") {
  Outputs place;
  auto output = place.output();
  output.append(1, "a");
  output.skip(10);
  output.append(1, "b");
  output.skip(5);
  const Read all = read_all(place, 0);
  CHECK(all.out == "ab");
  CHECK(all.skipped == 15);
  CHECK(all.next == 17);
}

TEST_CASE("a job's folder is made once") {
  Outputs place;
  auto output = place.output();
  CHECK_FALSE(bh::JobOutput::make(place.root, "j-1"));
}
