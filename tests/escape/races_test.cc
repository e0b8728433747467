// Paths that change between look and use, and what the host does with files that a sandbox made.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "row.h"
#include "support/sandbox_files.h"

using namespace bh_test;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

// Swaps what `path` is for as long as it lives: a folder, and a link to `other`, in turn.
class Swapper {
 public:
  Swapper(const std::string& path, const std::string& other) {
    const std::string link = path + ".link";
    (void)::symlink(other.c_str(), link.c_str());
    thread_ = std::thread([this, link, path] {
      while (!end_) ::renameat2(AT_FDCWD, link.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE);
    });
  }
  ~Swapper() {
    end_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> end_{false};
  std::thread thread_;
};

// Whether the host's file calls are there; they are optional.
bool has_files(const Cell& c) {
  return c.backend.table().get_extension != nullptr &&
         c.backend.table().get_extension(BH_ISOLATION_FILES) != nullptr;
}

}  // namespace

BH_ROW("F12", "a path that changes between look and mount never leads outside") {
  {
    OpenFolder folder;  // the control: a plain program is led astray before long
    const std::string outside = folder.make("outside"), x = folder.make("x");
    Swapper swapper(x, outside);
    for (int i = 0; i < 100000 && !exists(outside + "/made"); ++i) {
      std::ofstream(x + "/made") << "x";
    }
    CHECK(exists(outside + "/made"));
  }
  Cell cell(row.backend());
  const std::string outside = cell.folder.make("outside");
  cell.folder.write("work/x/secret", "hidden");
  cell.more_ = R"(,"files":[)" + rule(cell.work + "/x/secret", "hide") + "]";
  REQUIRE(cell.make() == BH_OK);
  // Beside the sandbox, as another sandbox on the same workspace could.
  Swapper swapper(cell.work + "/x", outside);
  for (int i = 0; i < 25; ++i) {
    // Either the set-up is refused, or the rule holds for what stands at its path just then.
    const Ran ran = cell.sh("echo ran; echo x > x/made");
    CHECK((ran.status == BH_FAILED_PRECONDITION || ran.out == "ran\n"));
  }
  CHECK(fs::is_empty(outside));
  row.is("refused");
}

BH_ROW("F12", "a link that came to stand where workspace, home or tmp was is not followed") {
  for (const char* key : {"workspace", "home", "tmp"}) {
    CAPTURE(key);
    OpenFolder folder;
    const std::string place = folder.make("outer"), secret = folder.make("secret");
    folder.write("secret/key", "secret");
    fs::create_directory(place + "/inner");
    Backend backend(row.backend());
    const bh_status made =
        backend.create("s1", std::string("{\"") + key + R"(":{"source":)" +
                                 quote(place + "/inner") + R"(},"hide":[)" + quote(secret) + "]}");
    INFO(backend.message);
    REQUIRE(made == BH_OK);
    CHECK(backend.sh("s1", "true").exit.exit_code == 0);
    // As a sandbox whose workspace is `outer` can do.
    fs::rename(place + "/inner", place + "/was");
    fs::create_directory_symlink(secret, place + "/inner");
    const Ran ran =
        backend.sh("s1", "cat ./key ~/key /tmp/key " + quote(place + "/inner/key") + "; exit 0");
    // Refused, or still in the folder that was meant, which a backend may hold.
    CHECK(ran.out.find("secret") == std::string::npos);
    CHECK(backend.destroy("s1") == BH_OK);
  }
  row.is("refused");
}

BH_ROW("F13", "an artefact that is a link shows the host no more than it shows the sandbox") {
  OpenFolder outside;
  const std::string secret = outside.write("secret", "KEY");
  Cell cell(row.backend(), R"(,"hide":[)" + quote(outside.path()) + "]");
  CHECK(cell.sh("ln -s " + secret + " result.txt").exit.exit_code == 0);
  CHECK(read(cell.work + "/result.txt") == "KEY");  // the control: plain reading follows it
  if (!has_files(cell)) return row.not_applicable("it offers the host no file calls");
  BoxFiles files(cell.backend);
  const Filed got = files.read(cell.work + "/result.txt");
  row.judge(got.data.find("KEY") != std::string::npos, "hidden", {"isolation.hides"}, cell.report);
  CHECK(files.write(cell.work + "/result.txt", "x").status != BH_UNKNOWN);
  CHECK(read(secret) == "KEY");
}

BH_ROW("F14", "pipes, sockets, holes and odd names never hold up the host") {
  Cell cell(row.backend());
  CHECK(cell.sh("mkfifo pipe; truncate -s 1T hole; printf x > \"$(printf 'a\\nb')\"; printf x > "
                "\"$(printf '\\377')\"; mkdir many; cd many; seq 1 3000 | xargs touch")
            .exit.exit_code == 0);
  {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    const std::string path = cell.work + "/s";
    if (path.size() < sizeof at.sun_path) {
      path.copy(at.sun_path, sizeof at.sun_path - 1);
      const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      CHECK(::bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
      ::close(fd);
    }
  }
  // The control: plain opening waits for ever.
  const pid_t waits = ::fork();
  if (waits == 0) {
    (void)!::open((cell.work + "/pipe").c_str(), O_RDONLY);
    ::_exit(0);
  }
  std::this_thread::sleep_for(300ms);
  CHECK(::waitpid(waits, nullptr, WNOHANG) == 0);
  ::kill(waits, SIGKILL);
  ::waitpid(waits, nullptr, 0);

  if (!has_files(cell)) return row.not_applicable("it offers the host no file calls");
  BoxFiles files(cell.backend);
  CHECK(files.read(cell.work + "/pipe").status != BH_OK);
  if (exists(cell.work + "/s")) CHECK(files.read(cell.work + "/s").status != BH_OK);
  CHECK(files.read("/dev/zero").status != BH_OK);
  const Filed hole = files.read(cell.work + "/hole", 0, 16);
  CHECK(hole.data == std::string(16, '\0'));
  Names names;
  for (const auto& file : files.list(cell.work).files) {
    names.insert(fs::path(file.name).filename());
  }
  CHECK(names.count("a\nb") == 1);
  CHECK(names.count("\xff") == 1);
  CHECK(files.list(cell.work + "/many").files.size() == 3000);
  row.is("refused");
}

BH_ROW("A12", "the host's file calls are not led outside while a sandbox swaps links") {
  OpenFolder outside;
  outside.write("key", "KEY");
  {
    OpenFolder folder;  // the control: a plain program reads the secret before long
    fs::create_directory(folder.path() + "/x");
    std::ofstream(folder.path() + "/x/key") << "mine";
    Swapper swapper(folder.path() + "/x", outside.path());
    bool led = false;
    for (int i = 0; i < 100000 && !led; ++i) led = read(folder.path() + "/x/key") == "KEY";
    CHECK(led);
  }
  Cell cell(row.backend(), R"(,"hide":[)" + quote(outside.path()) + "]");
  if (!has_files(cell)) return row.not_applicable("it offers the host no file calls");
  cell.folder.write("work/x/key", "mine");
  REQUIRE(cell.make() == BH_OK);
  BoxFiles files(cell.backend);
  bool read_it = false, wrote = false;
  {
    Swapper swapper(cell.work + "/x", outside.path());
    for (int i = 0; i < 60 && !read_it; ++i) {
      read_it = files.read(cell.work + "/x/key").data.find("KEY") != std::string::npos;
      (void)files.write(cell.work + "/x/made", "x");
      wrote = exists(outside.path() + "/made");
    }
  }
  row.judge(read_it || wrote, "refused", {"isolation.hides"}, cell.report);
}

BH_ROW("A12", "a file that shrinks while the host reads it harms nobody") {
  Cell cell(row.backend());
  if (!has_files(cell)) return row.not_applicable("it offers the host no file calls");
  cell.folder.write("work/file", std::string(8 << 20, 'x'));
  REQUIRE(cell.make() == BH_OK);
  std::atomic<bool> end{false};
  std::thread shrinks([&] {
    while (!end) {
      (void)!::truncate((cell.work + "/file").c_str(), 0);
      (void)!::truncate((cell.work + "/file").c_str(), 8 << 20);
    }
  });
  BoxFiles files(cell.backend);
  for (int i = 0; i < 10; ++i) {
    const Filed got = files.read(cell.work + "/file");
    CHECK(got.status != BH_UNKNOWN);
    CHECK(got.data.size() <= 8u << 20);
  }
  end = true;
  shrinks.join();
  row.is("refused");
}
