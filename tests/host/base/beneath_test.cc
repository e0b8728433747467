#include "base/beneath.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "support/catch.h"
#include <cstdlib>
#include <string>

namespace {

struct Folder {
  std::string path;
  bh::Fd fd;
  Folder() {
    char name[] = "/tmp/bh-beneath-XXXXXX";
    path = ::mkdtemp(name);
    fd = bh::Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  ~Folder() {
    bh::Fd tmp(::open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    (void)bh::remove_beneath(tmp.get(), path.substr(5));
  }
};

}  // namespace

TEST_CASE("no path leads out of its root") {
  Folder f;
  REQUIRE(::symlink("/etc", (f.path + "/out").c_str()) == 0);
  REQUIRE(::symlink("in", (f.path + "/alias").c_str()) == 0);
  REQUIRE(::mkdir((f.path + "/in").c_str(), 0700) == 0);
  REQUIRE(bh::write_beneath(f.fd.get(), "in/file", "text", 0600));
  CHECK(*bh::read_beneath(f.fd.get(), "in/file", 100) == "text");
  for (const char* path : {"../etc/passwd", "out/passwd", "/etc/passwd", "in/../../etc/passwd"}) {
    INFO(path);
    auto got = bh::read_beneath(f.fd.get(), path, 1 << 20);
    REQUIRE_FALSE(got);
    CHECK(got.error().code == BH_PERMISSION_DENIED);
    CHECK_FALSE(bh::write_beneath(f.fd.get(), path, "x", 0600));
  }
  CHECK_FALSE(bh::read_beneath(f.fd.get(), "alias/file", 100));
  CHECK(bh::open_beneath(f.fd.get(), "alias/file", O_RDONLY, 0, true));
}

TEST_CASE("a file is replaced whole, never through a link that lies in its place") {
  Folder f;
  REQUIRE(bh::write_beneath(f.fd.get(), "victim", "safe", 0600));
  REQUIRE(::symlink("victim", (f.path + "/link").c_str()) == 0);
  REQUIRE(bh::write_beneath(f.fd.get(), "link", "new", 0600));
  CHECK(*bh::read_beneath(f.fd.get(), "victim", 100) == "safe");
  CHECK(*bh::read_beneath(f.fd.get(), "link", 100) == "new");
}

TEST_CASE("a FIFO never blocks a reader, a large file is refused") {
  Folder f;
  REQUIRE(::mkfifo((f.path + "/pipe").c_str(), 0600) == 0);
  auto got = bh::read_beneath(f.fd.get(), "pipe", 100);
  REQUIRE_FALSE(got);
  CHECK(got.error().code == BH_FAILED_PRECONDITION);
  REQUIRE(bh::write_beneath(f.fd.get(), "big", std::string(1000, 'x'), 0600));
  got = bh::read_beneath(f.fd.get(), "big", 999);
  REQUIRE_FALSE(got);
  CHECK(got.error().code == BH_RESOURCE_EXHAUSTED);
}

TEST_CASE("a tree goes whole, and what its links point to stays") {
  Folder f;
  REQUIRE(bh::write_beneath(f.fd.get(), "kept", "text", 0600));
  REQUIRE(bh::make_folder_beneath(f.fd.get(), "tree/a/b", 0700));
  REQUIRE(::symlink("../../kept", (f.path + "/tree/a/link").c_str()) == 0);
  REQUIRE(::symlink("..", (f.path + "/tree/up").c_str()) == 0);
  REQUIRE(bh::write_beneath(f.fd.get(), "tree/a/b/file", "x", 0000));
  REQUIRE(::chmod((f.path + "/tree/a/b").c_str(), 0000) == 0);
  auto removed = bh::remove_beneath(f.fd.get(), "tree");
  REQUIRE(removed);
  CHECK_FALSE(bh::open_beneath(f.fd.get(), "tree", O_PATH));
  CHECK(*bh::read_beneath(f.fd.get(), "kept", 100) == "text");
  CHECK(bh::remove_beneath(f.fd.get(), "tree"));
  CHECK_FALSE(bh::remove_beneath(f.fd.get(), ".."));
}

TEST_CASE("what a sandbox left is removed, however deep, whatever its modes, links untouched") {
  Folder f, other;
  REQUIRE(bh::write_beneath(other.fd.get(), "kept", "x", 0600));
  bh::Fd at(::dup(f.fd.get()));
  REQUIRE(::mkdirat(at.get(), "top", 0700) == 0);
  at = bh::Fd(::openat(at.get(), "top", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Longer than any path, deeper than a process may have descriptors; each level closed to its owner.
  for (int i = 0; i < 3000; ++i) {
    REQUIRE(::mkdirat(at.get(), "d", 0700) == 0);
    REQUIRE(::symlinkat(other.path.c_str(), at.get(), "out") == 0);
    bh::Fd next(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    REQUIRE(next.get() >= 0);
    REQUIRE(::fchmod(at.get(), 0) == 0);
    at = std::move(next);
  }
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit few = before;
  few.rlim_cur = 256;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  auto removed = bh::remove_beneath(f.fd.get(), "top");
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  INFO((removed ? std::string() : removed.error().message));
  CHECK(removed);
  struct stat st {};
  CHECK(::fstatat(f.fd.get(), "top", &st, AT_SYMLINK_NOFOLLOW) != 0);
  CHECK(bh::read_beneath(other.fd.get(), "kept", 10));
}
