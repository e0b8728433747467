// What a caller may name as workspace, home, tmp and mounts, and what none may.
#include "sandbox/profile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/beneath.h"
#include "support/catch.h"

namespace {

// A machine: a home, a data root, a project, in a folder that goes with it.
struct Machine {
  Machine() {
    char name[] = "/tmp/bh-profile-XXXXXX";
    top = ::mkdtemp(name);
    settings.home = make("home");
    make("home/.ssh");
    make("project");
    auto opened = bh::DataRoot::open(top + "/data");
    REQUIRE(opened);
    root = std::make_unique<bh::DataRoot>(std::move(*opened));
    settings.own = {top + "/data"};
    settings.hide = {top + "/data", top + "/home/.ssh"};
  }
  ~Machine() {
    bh::Fd tmp(::open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    (void)bh::remove_beneath(tmp.get(), top.substr(5));
  }
  std::string make(const std::string& path) {
    REQUIRE(::mkdir((top + "/" + path).c_str(), 0755) == 0);
    return top + "/" + path;
  }
  bh::Result<bh::json::object> resolve(const std::string& profile) {
    bh::SandboxWish wish;
    wish.profile = bh::json::parse_object(profile).value();
    return bh::resolve_profile(wish, settings, "b", *root, "personas/b");
  }
  // As one of the three folders that the host mounts by itself.
  bh::Result<bh::json::object> with(const std::string& key, const std::string& source) {
    return resolve("{\"" + key + "\":{\"source\":" + bh::json::quote(source) + "}}");
  }

  std::string top;
  bh::SandboxSettings settings;
  std::unique_ptr<bh::DataRoot> root;
};

}  // namespace

TEST_CASE("a caller's home, tmp or workspace is never one of the folders that are hidden") {
  Machine m;
  REQUIRE(m.root->folder("personas/a/home"));
  REQUIRE(::symlink((m.top + "/data").c_str(), (m.top + "/link").c_str()) == 0);
  for (const char* key : {"workspace", "home", "tmp"}) {
    for (const std::string& source :
         {m.top + "/data", m.top + "/data/personas/a/home", m.top + "/link", m.top + "/link/personas",
          m.top + "/home/.ssh", m.top + "/home", m.top, std::string("/"), std::string("/tmp"),
          m.top + "/project/../data", std::string("relative"), std::string(),
          m.top + "/absent"}) {
      CAPTURE(key, source);
      if (std::string(key) == "workspace" && source.empty()) continue;  // as if it were not there
      auto got = m.with(key, source);
      REQUIRE_FALSE(got);
      const bool there = source.rfind("/", 0) == 0 && source != m.top + "/absent";
      const bool denied = there || std::string(key) == "workspace";
      CHECK(got.error().code == (denied ? BH_PERMISSION_DENIED : BH_FAILED_PRECONDITION));
      CHECK(got.error().message.find(key) != std::string::npos);
    }
    auto fine = m.with(key, m.top + "/project/./");
    REQUIRE(fine);
    CHECK(bh::json::get_string(*bh::json::get_object(*fine, key), "source") == m.top + "/project");
  }
}

TEST_CASE("a hidden folder is hidden under every name it has") {
  Machine m;
  REQUIRE(::symlink((m.top + "/data").c_str(), (m.top + "/link").c_str()) == 0);
  // The configuration names the data folder through a link; the caller names it straight.
  m.settings.own = m.settings.hide = {m.top + "/link"};
  CHECK_FALSE(m.with("workspace", m.top + "/data"));
  REQUIRE(m.root->folder("personas/a/home"));
  CHECK_FALSE(m.with("workspace", m.top + "/data/personas/a/home"));
}

TEST_CASE("a caller's mount is never one of the folders that are hidden") {
  Machine m;
  REQUIRE(::symlink((m.top + "/data").c_str(), (m.top + "/link").c_str()) == 0);
  auto mount = [&](const std::string& source) {
    return m.resolve(R"({"mounts":[{"path":"/x","source":)" + bh::json::quote(source) + "}]}");
  };
  for (const std::string& source : {m.top + "/data", m.top + "/link", m.top + "/home/.ssh"}) {
    CAPTURE(source);
    auto got = mount(source);
    REQUIRE_FALSE(got);
    CHECK(got.error().code == BH_PERMISSION_DENIED);
  }
  CHECK(mount(m.top + "/project"));
}

TEST_CASE("no folder that would hold a configuration or plugins of ours that are not there yet") {
  Machine m;
  m.make("project/.config");
  const std::string absent = m.top + "/project/.config/bulkhead";
  m.settings.own.push_back(absent + "/plugins");
  m.settings.hide.push_back(absent + "/plugins");
  for (const std::string& folder : {m.top + "/project", m.top + "/project/.config"}) {
    for (const char* key : {"workspace", "home", "tmp"}) {
      auto got = m.with(key, folder);
      REQUIRE_FALSE(got);
      CHECK(got.error().message.find(absent) != std::string::npos);
    }
    const std::string quoted = bh::json::quote(folder);
    CHECK_FALSE(m.resolve(R"({"mounts":[{"path":"/x","access":"rw","source":)" + quoted + "}]}"));
    CHECK_FALSE(m.resolve(R"({"files":[{"access":"rw","path":)" + quoted + "}]}"));
    CHECK(m.resolve(R"({"mounts":[{"path":"/x","source":)" + quoted + "}]}"));
    CHECK(m.resolve(R"({"files":[{"access":"hide","path":)" + quoted + "}]}"));
  }
  // Once they are there they are covered instead.
  m.make("project/.config/bulkhead");
  m.make("project/.config/bulkhead/plugins");
  CHECK(m.with("workspace", m.top + "/project"));
  CHECK_FALSE(m.with("workspace", absent + "/plugins"));
}

TEST_CASE("a persona's home serves again after a command took its rights away") {
  Machine m;
  auto home = m.root->folder("personas/b/home");
  REQUIRE(home);
  REQUIRE(::chmod(home->c_str(), 0) == 0);
  CHECK(m.root->folder("personas/b/home"));
  REQUIRE(m.root->folder("personas/b/home"));
  if (::geteuid() != 0) {
    struct stat st {};
    REQUIRE(::stat(home->c_str(), &st) == 0);
    CHECK((st.st_mode & 0777) == 0700);
  }
}
