// What a sandbox leaves on the host, and what it puts in the way of the next start, must not hand its
// owner's rights to anybody.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>

#include "escape.h"

using namespace bh_test;
namespace fs = std::filesystem;

TEST_CASE("P15 nothing made inside runs on the host as its owner or group") {
  BH_NEEDS_BWRAP;
  Cell cell;
  auto tried = cell.probe("set_ids");
  CHECK(tried["plain_open"] == "ok");
  CHECK(tried["plain_chmod"] == "ok");
  CHECK(tried.size() > 15);
  for (const auto& [name, result] : tried) {
    CAPTURE(name, result);
    if (name.rfind("plain_", 0) != 0) CHECK(result != "ok");
  }
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(cell.work)) {
    struct stat st {};
    REQUIRE(::lstat(entry.path().c_str(), &st) == 0);
    CAPTURE(entry.path().string());
    CHECK((st.st_mode & (S_ISUID | S_ISGID)) == 0);
    ++files;
  }
  CHECK(files > 5);
}

TEST_CASE("F12 a link that came to stand where workspace, home or tmp was is not followed") {
  BH_NEEDS_BWRAP;
  for (const char* key : {"workspace", "home", "tmp"}) {
    CAPTURE(key);
    Folder folder;
    const std::string place = folder.make("outer"), secret = folder.make("secret");
    folder.write("secret/key", "secret");
    fs::create_directory(place + "/inner");
    Backend backend("bwrap");
    REQUIRE(backend.create("s1", std::string("{\"") + key + R"(":{"source":)" +
                                     quote(place + "/inner") + "}}") == BH_OK);
    CHECK(backend.sh("s1", "true").exit.exit_code == 0);
    // As a sandbox whose workspace is `outer` can do.
    fs::rename(place + "/inner", place + "/was");
    fs::create_directory_symlink(secret, place + "/inner");
    const Ran ran =
        backend.sh("s1", "cat ./key ~/key /tmp/key " + quote(place + "/inner/key") + "; exit 0");
    CHECK(ran.out.find("secret") == std::string::npos);
    CHECK(ran.status != BH_OK);
    CHECK(backend.destroy("s1") == BH_OK);
  }
}

TEST_CASE("F3 the program that runs us, its plugin and its helper cannot be replaced from inside") {
  BH_NEEDS_BWRAP;
  // The build tree as the workspace: this program lies in tests/, the plugin in plugins/.
  const std::string program = std::filesystem::canonical("/proc/self/exe");
  const std::string tests = std::filesystem::path(program).parent_path();
  const std::string tree = std::filesystem::path(tests).parent_path();
  const std::string plugin = tree + "/plugins/isolation_bwrap";
  REQUIRE(exists(plugin + "/bulkhead-bwrap-launch"));
  Backend backend("bwrap");
  const std::string profile =
      R"({"workspace":{"source":)" + quote(tree) + R"(},"files":[{"path":)" + quote(plugin) +
      R"(,"access":"rw"},{"path":)" + quote(program) + R"(,"access":"rw"}]})";
  const bh_status made = backend.create("s1", profile);
  INFO(backend.message);
  REQUIRE(made == BH_OK);
  CHECK(rule_status(backend.report, "isolation.own_program") == "enforced");
  // Nothing here changes a file, should it be let through.
  for (const std::string& file :
       {program, plugin + "/isolation_bwrap.so", plugin + "/bulkhead-bwrap-launch"}) {
    CAPTURE(file);
    CHECK(backend.sh("s1", ": >> '" + file + "'").exit.exit_code != 0);
    CHECK(backend.sh("s1", "ln '" + file + "' '" + tree + "/linked' && rm '" + tree + "/linked'")
              .exit.exit_code != 0);
  }
  for (const std::string& folder : {tests, plugin}) {
    CAPTURE(folder);
    CHECK(backend.sh("s1", "mkdir '" + folder + "/x' && rmdir '" + folder + "/x'").exit.exit_code !=
          0);
    CHECK(backend.sh("s1", "mv '" + folder + "' '" + folder + "2' && mv '" + folder + "2' '" +
                               folder + "'")
              .exit.exit_code != 0);
  }
  // The folder above must stay where it is too; what else is in the tree is as writable as ever.
  CHECK(backend.sh("s1", "mv plugins plugins2 && mv plugins2 plugins").exit.exit_code != 0);
  if (::access(tree.c_str(), W_OK) == 0) {
    const std::string name = "made-" + std::to_string(::getpid());
    CHECK(backend.sh("s1", "echo x > " + name + " && rm " + name).exit.exit_code == 0);
  }
  CHECK(backend.destroy("s1") == BH_OK);
}

TEST_CASE("F3 right in the workspace the program's file alone is kept, and that is told") {
  BH_NEEDS_BWRAP;
  const std::string program = std::filesystem::canonical("/proc/self/exe");
  const std::string tests = std::filesystem::path(program).parent_path();
  Backend backend("bwrap");
  const bh_status made = backend.create("s1", R"({"workspace":{"source":)" + quote(tests) + "}}");
  INFO(backend.message);
  REQUIRE(made == BH_OK);
  CHECK(rule_status(backend.report, "isolation.own_program") == "partial");
  CHECK(backend.sh("s1", ": >> '" + program + "'").exit.exit_code != 0);
  CHECK(backend.sh("s1", "mv '" + program + "' x && mv x '" + program + "'").exit.exit_code != 0);
  CHECK(backend.destroy("s1") == BH_OK);
}

TEST_CASE("N16 families whose modules load on demand are asked neither for sockets nor for pairs") {
  BH_NEEDS_BWRAP;
  Cell cell;
  auto tried = cell.probe("sockets");
  for (const char* name : {"vsock_pair", "packet_pair", "alg_pair", "key_pair", "bluetooth_pair",
                           "tipc_pair", "sctp", "udplite"}) {
    CAPTURE(name);
    CHECK(tried[name] == std::to_string(EPERM));
  }
}

TEST_CASE("P12 no mount shows the host's processes") {
  BH_NEEDS_BWRAP;
  {
    Cell cell(R"(,"mounts":[{"source":"/proc","path":"/mnt"}])");
    CHECK(cell.make() == BH_PERMISSION_DENIED);
  }
  Cell whole(R"(,"mounts":[{"source":"/","path":"/mnt"}])");
  CHECK(whole.sh("ls -d /mnt/usr").out == "/mnt/usr\n");
  CHECK(whole.sh("ls /mnt/proc; exit 0").out.empty());
}

TEST_CASE("N14 the host's abstract sockets are out of reach on the host's network too") {
  BH_NEEDS_BWRAP;
  const std::string name = "@bulkhead-test-" + std::to_string(::getpid());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data() + 1, name.size() - 1);
  const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(::bind(server, reinterpret_cast<sockaddr*>(&address),
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())) == 0);
  REQUIRE(::listen(server, 8) == 0);
  for (const char* mode : {"off", "unrestricted"}) {
    CAPTURE(mode);
    Cell cell(std::string(R"(,"network":{"mode":")") + mode + "\"}");
    const std::string reached = cell.probe("reach " + name)["reach"];
    if (rule_status(cell.backend.report, "isolation.abstract_sockets") == "enforced") {
      CHECK(reached == std::to_string(mode == std::string("off") ? ECONNREFUSED : EPERM));
    } else {
      CHECK(reached == "ok");  // the report says so, and is right
    }
  }
  ::close(server);
}
