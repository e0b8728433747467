#include "loader/trust.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "host/loader/folder.h"
#include "support/catch.h"
#include "support/skip.h"

namespace fs = std::filesystem;
using bh_test::Folder;

namespace {

std::string refusal(const std::string& path) {
  const auto opened = bh::open_folder(path, bh::Trust::usual());
  if (opened) return *opened ? "" : "absent";
  CHECK(opened.error().stage == bh::LoadStage::permission);
  CHECK_FALSE(opened.error().hint.empty());
  return opened.error().message;
}

}  // namespace

TEST_CASE("a folder of one's own below a sticky one is safe, the sticky one itself is not") {
  Folder folder;
  const std::string inner = folder.make("a/b");
  const auto opened = bh::open_folder(inner, bh::Trust::usual());
  REQUIRE(opened);
  REQUIRE(*opened);
  CHECK((*opened)->path == inner);
  struct stat st;
  REQUIRE(::stat("/tmp", &st) == 0);
  if ((st.st_mode & S_IWOTH) == 0) BH_SKIP("/tmp is not writable by everybody here");
  CHECK(refusal("/tmp").find("is writable by everybody") != std::string::npos);
}

TEST_CASE("every folder on the way counts") {
  Folder folder;
  const std::string inner = folder.make("a/b/c");
  folder.make("a/b", 0775);
  CHECK(refusal(inner) == folder.path + "/a/b is writable by its group (mode 0775)");
  folder.make("a/b", 0757);
  CHECK(refusal(inner) == folder.path + "/a/b is writable by everybody (mode 0757)");
  folder.make("a/b", 0755);
  CHECK(refusal(inner).empty());
}

TEST_CASE("one named group may write, no other") {
  Folder folder;
  const std::string inner = folder.make("a", 0775);
  bh::Trust trust = bh::Trust::usual();
  trust.group = ::getegid();
  CHECK(bh::open_folder(inner, trust));
  trust.group = ::getegid() + 1;
  CHECK_FALSE(bh::open_folder(inner, trust));
}

TEST_CASE("links on the way are followed by hand, and the folder that holds them counts too") {
  Folder folder;
  const std::string target = folder.make("target/inner");
  folder.make("links");
  fs::create_directory_symlink("../target", folder.path + "/links/relative");
  fs::create_directory_symlink(folder.path + "/target", folder.path + "/links/absolute");
  for (const char* link : {"relative", "absolute"}) {
    const auto opened =
        bh::open_folder(folder.path + "/links/" + link + "/inner", bh::Trust::usual());
    REQUIRE(opened);
    REQUIRE(*opened);
    CHECK((*opened)->path == target);
  }
  ::chmod((folder.path + "/links").c_str(), 0777);
  CHECK(refusal(folder.path + "/links/absolute/inner").find("/links is writable") !=
        std::string::npos);
  ::chmod((folder.path + "/links").c_str(), 0755);
  fs::create_directory_symlink("loop", folder.path + "/loop");
  CHECK(refusal(folder.path + "/loop").find("leads nowhere") != std::string::npos);
}

TEST_CASE("what is not there is absent, what is no folder is refused") {
  Folder folder;
  folder.write("file", "text");
  CHECK(refusal(folder.path + "/no/such") == "absent");
  CHECK(refusal(folder.path + "/file") == folder.path + "/file is not a folder");
  CHECK(refusal("relative/path") == "\"relative/path\" is not an absolute path");
  CHECK(refusal("") == "\"\" is not an absolute path");
}

TEST_CASE("the next step says what to do with which path") {
  Folder folder;
  folder.write("file", "text");
  const auto hint = [](const std::string& path) {
    const auto opened = bh::open_folder(path, bh::Trust::usual());
    return opened ? std::string() : opened.error().hint;
  };
  CHECK(hint(folder.path + "/file") ==
        "name a folder that holds plugins, or move the file " + folder.path + "/file away");
  const std::string open = folder.make("open", 0777);
  CHECK(hint(open) == "chmod o-w " + open);
  for (int number : {EACCES, ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP, EIO}) {
    INFO(number);
    CHECK(bh::hint_for_errno(number, "/p/a.so").find("/p/a.so") != std::string::npos);
  }
  CHECK(bh::hint_for_errno(EMFILE, "/p/a.so").find("ulimit -n") != std::string::npos);
}

TEST_CASE("somebody else's files are not believed") {
  if (::geteuid() != 0) BH_SKIP("only root can give a file away");
  Folder folder;
  const std::string inner = folder.make("a/b");
  REQUIRE(::chown((folder.path + "/a").c_str(), 12345, ::getegid()) == 0);
  CHECK(refusal(inner).find("belongs to user 12345") != std::string::npos);
  bh::Trust trust = bh::Trust::usual();
  trust.owners.push_back(12345);
  CHECK(bh::open_folder(inner, trust));
}

TEST_CASE("files are opened without following anything") {
  Folder folder;
  folder.make("sub");
  folder.write("sub/file", "text");
  fs::create_symlink("file", folder.path + "/sub/link");
  fs::create_directory_symlink("sub", folder.path + "/link");
  REQUIRE(::mkfifo((folder.path + "/fifo").c_str(), 0600) == 0);
  const auto opened = bh::open_folder(folder.path, bh::Trust::usual());
  REQUIRE(opened);
  REQUIRE(*opened);
  const auto file = [&](const char* path) {
    const auto found = bh::open_file(**opened, path, bh::Trust::usual());
    if (!found) CHECK_FALSE(found.error().hint.empty());
    return found ? "" : found.error().message.substr(folder.path.size());
  };
  CHECK(file("sub/file").empty());
  CHECK(file("sub/link") == "/sub/link is a symbolic link");
  CHECK(file("link/file") == "/link is a link or not a folder");
  CHECK(file("fifo") == "/fifo is not a regular file");
  CHECK(file("sub") == "/sub is not a regular file");
  CHECK(file("none") == "/none is not there");
  folder.write("open", "text", 0666);
  CHECK(file("open") == "/open is writable by everybody (mode 0666)");
}
