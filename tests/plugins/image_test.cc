// A sandbox that starts from an image's root: what it writes is its own, and stays.
#include <sys/stat.h>
#include <unistd.h>

#include <bulkhead/sdk/isolation/sub_ids.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "setting.h"

using namespace bh_test;
namespace fs = std::filesystem;

namespace {

// A root with a shell and a few programs, out of this machine's own. Owned by whoever runs the tests,
// with ids as an image has them: root's are 0.
class Root {
 public:
  Root() : path(folder.make("root")) {
    for (const char* name : {"bin", "etc", "tmp", "var/tmp", "home", "proc", "dev", "usr/share/doc"}) {
      fs::create_directories(path + "/" + name);
    }
    for (const char* program : {"sh", "cat", "id", "touch", "mv", "mkdir", "rm", "stat", "chown", "ls", "ln", "cp", "chmod"}) {
      add(std::string(program));
    }
    std::ofstream(path + "/etc/passwd") << "root:x:0:0::/:/bin/sh\nann:x:7:8::/:/bin/sh\n";
    std::ofstream(path + "/etc/kept") << "of the image\n";
    std::ofstream(path + "/usr/share/doc/text") << "text\n";
  }

  Folder folder;
  const std::string path;

 private:
  void copy(const std::string& from) {
    const std::string to = path + from;
    fs::create_directories(fs::path(to).parent_path());
    std::error_code ignored;
    fs::copy_file(fs::canonical(from), to, ignored);
  }
  void add(const std::string& program) {
    const std::string file = fs::canonical("/bin/" + program);
    fs::copy_file(file, path + "/bin/" + program);
    std::unique_ptr<FILE, int (*)(FILE*)> out(::popen(("ldd " + file).c_str(), "r"), &::pclose);
    char line[512];
    while (out && std::fgets(line, sizeof line, out.get()) != nullptr) {
      std::istringstream words(line);
      for (std::string word; words >> word;) {
        if (word[0] == '/') copy(word);
      }
    }
  }
};

const bulkhead::sdk::isolation::SubIds& ranges() {
  static const auto found = bulkhead::sdk::isolation::find_sub_ids();
  return found;
}

std::string profile(const Root& root, const std::string& work, const std::string& more = "") {
  return R"({"root":{"image":)" + quote(root.path) + R"(},"workspace":{"source":)" + quote(work) +
         R"(,"path":"/app"},"user":{"uid":0})" + more + "}";
}

// A kernel without overlay refuses such a sandbox by name; then there is nothing more to try.
bool has_overlay() {
  static const bool has = [] {
    Root root;
    Backend backend("ns");
    const bool there = backend.create("s1", profile(root, root.folder.make("work"))) == BH_OK;
    const std::string details = backend.details;
    CHECK(backend.destroy("s1") == BH_OK);
    if (there || details.find("no_overlay") == std::string::npos) return true;
    CHECK(details.find("root.image") != std::string::npos);
    CHECK(read("/proc/filesystems").find("\toverlay\n") == std::string::npos);
    return false;
  }();
  return has;
}

struct Cell {
  explicit Cell(const std::string& more = "") : backend("ns"), work(root.folder.make("work")) {
    const bh_status st = backend.create("s1", profile(root, work, more));
    INFO(backend.message << backend.details);
    REQUIRE(st == BH_OK);
  }
  ~Cell() { CHECK(backend.destroy("s1") == BH_OK); }
  // An overlay cannot lie on another; what is written is then lost with the process, and told.
  bool kept() const { return rule_status(backend.report, "root.image") == "enforced"; }
  Root root;
  Backend backend;
  const std::string work;
};

}  // namespace

TEST_CASE("image: its files are there, the host's are not") {
  BH_NEEDS("ns");
  if (!has_overlay()) BH_SKIP("this kernel has no overlay");
  Cell cell;
  CHECK(cell.backend.sh("s1", "cat /etc/kept; ls /; ls /usr/share/doc; id -u; pwd; cat /proc/1/comm > /dev/null && echo "
                              "proc; echo x > /dev/null && echo dev")
            .out == "of the image\napp\nbin\ndev\netc\nhome\n" +
                        std::string(exists("/lib64") ? "lib\nlib64\n" : "lib\n") +
                        "proc\ntmp\nusr\nvar\ntext\n0\n/app\nproc\ndev\n");
  // The control: it is there on the host.
  REQUIRE(exists("/etc/hostname"));
  CHECK(cell.backend.sh("s1", "ls /etc/hostname").exit.exit_code != 0);
}

TEST_CASE("image: what a sandbox writes is its own and stays; the image is as it was") {
  BH_NEEDS("ns");
  if (!has_overlay()) BH_SKIP("this kernel has no overlay");
  Cell cell;
  Ran ran = cell.backend.sh("s1", "echo new > /etc/made; echo changed > /etc/kept; rm -r /usr/share/doc; echo w > file");
  INFO(ran.err);
  CHECK(ran.exit.exit_code == 0);
  CHECK(cell.backend.sh("s1", "cat /etc/made /etc/kept; ls /usr/share").out == "new\nchanged\n");
  CHECK(read(cell.root.path + "/etc/kept") == "of the image\n");
  CHECK(exists(cell.root.path + "/usr/share/doc/text"));
  CHECK_FALSE(exists(cell.root.path + "/etc/made"));
  CHECK(read(cell.work + "/file") == "w\n");
  struct stat st {};
  REQUIRE(::stat((cell.work + "/file").c_str(), &st) == 0);
  CHECK(st.st_uid == ::geteuid());

  // Another one from the same image knows nothing of it.
  CHECK(cell.backend.create("s2", profile(cell.root, cell.work)) == BH_OK);
  CHECK(cell.backend.sh("s2", "cat /etc/kept; ls /etc/made").out == "of the image\n");
  CHECK(cell.backend.destroy("s2") == BH_OK);

  if (!cell.kept()) return;
  Backend next("ns", cell.backend.state());
  REQUIRE(next.find("s1") == BH_OK);
  CHECK(next.sh("s1", "cat /etc/made").out == "new\n");
}

TEST_CASE("image: rules about its paths hold, and nobody moves what is above them") {
  BH_NEEDS("ns");
  if (!has_overlay()) BH_SKIP("this kernel has no overlay");
  Cell cell(R"(,"files":[{"path":"/etc/kept","access":"ro"},{"path":"/usr/share/doc","access":"hide"}])");
  CHECK(rule_status(cell.backend.report, "files:/etc/kept") == "enforced");
  const Ran ran = cell.backend.sh(
      "s1", "echo x > /etc/kept && echo written; mv /etc /etc2 && echo moved; mv /usr /usr2 && echo moved; ls "
            "/usr/share/doc; cat /etc/kept; touch /etc/other && echo fine");
  CHECK(ran.out == "of the image\nfine\n");
}

TEST_CASE("image: package managers' capabilities are had among ids of its own, and not without being asked for") {
  BH_NEEDS("ns");
  if (!has_overlay()) BH_SKIP("this kernel has no overlay");
  const std::string script = "touch /made; chown 7:8 /made && echo done; stat -c %u:%g /made";
  {
    Cell none;
    CHECK(none.backend.sh("s1", script).out == "0:0\n");
  }
  Cell cell(R"(,"capabilities":"packages")");
  if (::geteuid() != 0 && !ranges().usable()) {
    CHECK(rule_status(cell.backend.report, "capabilities") == "unsupported");
    CHECK(rule_reason(cell.backend.report, "capabilities").find(ranges().why) != std::string::npos);
    CHECK(cell.backend.sh("s1", script).out == "0:0\n");
    return;
  }
  CHECK(rule_status(cell.backend.report, "capabilities") == "enforced");
  CHECK(cell.backend.sh("s1", script).out == "done\n7:8\n");
  // Not those that lead out.
  CHECK(cell.backend.sh("s1", "while read a b; do if [ $a = CapEff: ]; then echo $b; fi; done < /proc/self/status").out ==
        "00000000000404fb\n");
}

TEST_CASE("image: an ordinary user's sandbox has the ids that /etc/subuid gives him, and leaves nothing of theirs") {
  BH_NEEDS("ns");
  if (!has_overlay()) BH_SKIP("this kernel has no overlay");
  if (::geteuid() == 0) BH_SKIP("started by root, who needs no such ids");
  if (!ranges().usable()) BH_SKIP(ranges().why);
  Root root;
  Backend backend("ns");
  const std::string work = root.folder.make("work");
  const bh_status st = backend.create("s1", profile(root, work, R"(,"capabilities":"packages")"));
  INFO(backend.message << backend.details);
  REQUIRE(st == BH_OK);
  CHECK(rule_status(backend.report, "capabilities") == "enforced");
  const Ran ran = backend.sh("s1",
                             "touch theirs mine; chown 7:8 theirs; mkdir /deep; touch /deep/file; chown 7:8 /deep "
                             "/deep/file; chmod 700 /deep; chown 65534:65534 mine && chown 0:0 mine && echo done");
  INFO(ran.err);
  CHECK(ran.out == "done\n");
  struct stat theirs {}, mine {};
  REQUIRE(::stat((work + "/theirs").c_str(), &theirs) == 0);
  REQUIRE(::stat((work + "/mine").c_str(), &mine) == 0);
  // What is root's inside is his outside; the seventh id inside is the seventh of his range.
  CHECK(mine.st_uid == ::geteuid());
  CHECK(theirs.st_uid == ranges().users[0].first + 6);
  CHECK(theirs.st_gid == ranges().groups[0].first + 7);
  // No id of the host's is reached that way.
  CHECK(backend.sh("s1", "chown 70000:70000 mine || echo refused").out == "refused\n");
  CHECK(backend.sh("s1", "while read a b c d; do if [ $a = Groups: ]; then echo \"($b)\"; fi; done < /proc/self/status").out ==
        "()\n");
  const std::string state = backend.state();
  REQUIRE(exists(state + "/s1"));
  CHECK(backend.destroy("s1") == BH_OK);
  CHECK_FALSE(exists(state + "/s1"));
  CHECK(::unlink((work + "/theirs").c_str()) == 0);  // the folder is his
}

TEST_CASE("image: a root that is no folder is refused by name") {
  BH_NEEDS("ns");
  Backend backend("ns");
  Folder folder;
  CHECK(backend.create("s1", R"({"root":{"image":"/bulkhead/no/such"}})") == BH_FAILED_PRECONDITION);
  CHECK(backend.details.find("root.image") != std::string::npos);
  CHECK(backend.destroy("s1") == BH_OK);
  CHECK(backend.create("s2", R"({"root":{"image":)" + quote(folder.write("file", "")) + "}}") ==
        BH_FAILED_PRECONDITION);
  CHECK(backend.destroy("s2") == BH_OK);
}
