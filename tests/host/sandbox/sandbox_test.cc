#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "sandbox/profile.h"
#include "sandbox/report.h"
#include "sandbox/sandboxes.h"
#include "sandbox/shape_key.h"
#include "support/catch.h"

namespace fs = std::filesystem;
namespace json = bh::json;

namespace {

json::object object(const char* text) { return json::parse_object(text).value(); }

struct Place {
  Place() {
    for (const char* folder : {"home", "home/secret", "project", "hidden", "hidden/below"}) {
      fs::create_directory(path + "/" + folder);
    }
    fs::create_symlink(path + "/hidden", path + "/way");
    fs::create_symlink(path + "/hidden/below", path + "/project/into");
    settings.home = path + "/home";
    settings.hide = {path + "/data", path + "/way"};
    settings.limits = {{"wall_ms", 1000}, {"pids", 5}};
    settings.env_allow = {"LANG"};
  }
  ~Place() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  bh::Result<json::object> resolve(const bh::SandboxWish& wish) {
    return bh::resolve_profile(wish, settings, "p", root, "personas/p");
  }

  static std::string made() {
    char name[] = "/tmp/bh-sandbox-XXXXXX";
    return ::mkdtemp(name);
  }

  const std::string path = made();
  bh::SandboxSettings settings;
  bh::DataRoot root{bh::DataRoot::open(path + "/data").value()};
};

std::string at(const json::object& o, const char* a, const char* b) {
  const json::object* inner = json::get_object(o, a);
  return inner != nullptr ? std::string(json::get_string(*inner, b)) : std::string();
}

}  // namespace

TEST_CASE("an empty wish becomes a whole profile out of the defaults") {
  Place place;
  auto profile = place.resolve({});
  REQUIRE(profile);
  const std::string own = place.root.path() + "/personas/p";
  CHECK(at(*profile, "root", "view") == "host");
  CHECK(at(*profile, "workspace", "source") == own + "/workspace");
  CHECK(at(*profile, "workspace", "path") == own + "/workspace");
  CHECK(at(*profile, "workspace", "access") == "rw");
  CHECK(at(*profile, "home", "source") == own + "/home");
  CHECK(at(*profile, "tmp", "source") == own + "/tmp");
  CHECK(at(*profile, "network", "mode") == "off");
  CHECK(json::print((*profile)["limits"]) == R"({"wall_ms":1000,"pids":5})");
  CHECK(json::print((*profile)["env"]) == R"({"allow":["LANG"]})");
  CHECK(json::get_string(*profile, "persona") == "p");
  CHECK((*profile)["hide"].as_array().size() == 2);
  for (const char* folder : {"/workspace", "/home", "/tmp"}) CHECK(fs::is_directory(own + folder));
}

TEST_CASE("what the wish says stays, what it leaves open is filled in") {
  Place place;
  bh::SandboxWish wish;
  wish.workspace = place.path + "/project";
  wish.profile = object(
      R"({"limits":{"pids":9},"network":{"mode":"unrestricted"},"env":{"set":{"A":"b"}},
          "workspace":{"source":"/ignored","path":"/work","access":"ro"}})");
  auto profile = place.resolve(wish);
  REQUIRE(profile);
  CHECK(at(*profile, "workspace", "source") == place.path + "/project");
  CHECK(at(*profile, "workspace", "path") == "/work");
  CHECK(at(*profile, "workspace", "access") == "ro");
  CHECK(json::print((*profile)["limits"]) == R"({"pids":9,"wall_ms":1000})");
  CHECK(at(*profile, "network", "mode") == "unrestricted");
  CHECK(json::print((*profile)["env"]) == R"({"set":{"A":"b"},"allow":["LANG"]})");
}

TEST_CASE("workspaces that are refused") {
  Place place;
  const std::string& p = place.path;
  const std::pair<std::string, const char*> kRows[] = {
      {"/", "whole file system"},
      {"//", "whole file system"},
      {"/tmp/..", "whole file system"},
      {"project", "not an absolute"},
      {"./project", "not an absolute"},
      {p + "/nothing", "not there"},
      {p + "/home", "home folder"},
      {p + "/home/", "home folder"},
      {p + "/project/../home", "home folder"},
      {p, "lies in it"},
      {"/tmp", "lies in it"},
      {p + "/data", "no sandbox may show"},
      {p + "/data/personas", "no sandbox may show"},
      {p + "/hidden", "no sandbox may show"},        // hidden by way of a link
      {p + "/hidden/below", "no sandbox may show"},
      {p + "/project/into", "no sandbox may show"},  // there by way of a link
      {"/etc/hostname", "not a folder"},
  };
  fs::create_directories(p + "/data/personas");
  for (const auto& [path, why] : kRows) {
    INFO(path);
    bh::SandboxWish wish;
    wish.workspace = path;
    auto profile = place.resolve(wish);
    REQUIRE_FALSE(profile);
    CHECK(profile.error().code == BH_PERMISSION_DENIED);
    CHECK(profile.error().message.find(why) != std::string::npos);
    CHECK(profile.error().details.find("workspace_refused") != std::string::npos);
    CHECK(profile.error().details.find("remedy") != std::string::npos);
  }
  bh::SandboxWish wish;
  wish.workspace = p + "/home/secret";
  CHECK(place.resolve(wish));
  wish.workspace = p + "/project";
  CHECK(place.resolve(wish));
}

TEST_CASE("a caller's own HOME, /tmp and mounts cannot be what is hidden") {
  Place place;
  fs::create_directories(place.path + "/data/personas/other/home");
  const char* const kParts[] = {R"({"home":{"source":"%"}})", R"({"tmp":{"source":"%"}})",
                                R"({"mounts":[{"source":"%","path":"/m"}]})"};
  const std::pair<std::string, bh_status> kSources[] = {
      {place.path + "/data/personas/other/home", BH_PERMISSION_DENIED},
      {place.path + "/data", BH_PERMISSION_DENIED},
      {place.path + "/way/below", BH_PERMISSION_DENIED},
      {place.path + "/project/into", BH_PERMISSION_DENIED},
      {place.path + "/project/../data/personas", BH_PERMISSION_DENIED},
      {"relative", BH_FAILED_PRECONDITION},
      {place.path + "/nothing", BH_FAILED_PRECONDITION},
      {place.path + "/project", BH_OK},
  };
  for (const char* part : kParts) {
    for (const auto& [source, code] : kSources) {
      std::string text = part;
      text.replace(text.find('%'), 1, source);
      INFO(text);
      bh::SandboxWish wish;
      wish.profile = object(text.c_str());
      auto profile = place.resolve(wish);
      CHECK((profile ? BH_OK : profile.error().code) == code);
    }
  }
}

TEST_CASE("the rules of a profile have names") {
  auto profile = object(
      R"({"root":{"view":"host"},"workspace":{"source":"/w"},"home":{"source":"/h"},
          "files":[{"path":"/a","access":"ro"}],"mounts":[{"source":"/x","path":"/m"}],
          "network":{"mode":"off"},"limits":{"pids":1},"env":{"allow":[]},"hide":["/d"]})");
  std::vector<std::string> expected = {"root.view",    "workspace",  "home",      "files:/a",
                                       "mounts:/m",    "network.mode", "limits.pids",
                                       "env.allow",    "isolation.hides"};
  CHECK(bh::rules_of(profile) == expected);
}

namespace {
std::string status_of(const json::object& report, std::string_view rule) {
  for (const auto& line : *json::get_array(report, "rules")) {
    if (line.is_object() && json::get_string(line.as_object(), "rule") == rule) {
      return std::string(json::get_string(line.as_object(), "status"));
    }
  }
  return "absent";
}
}  // namespace

TEST_CASE("a report is completed: what is not mentioned is unsupported") {
  auto profile = object(
      R"({"network":{"mode":"off","allow":[]},"limits":{"pids":1,"cpu":1},
          "files":[{"path":"/a","access":"ro"},{"path":"/a.txt","access":"ro"}]})");
  auto report = object(
      R"({"rules":[{"rule":"network","status":"enforced"},{"rule":"files:/a","status":"partial"},
                   {"rule":"limits.pids","status":"enforced"},"garbage",{"norule":1}],"backend":"b"})");
  auto whole = bh::complete_report(report, profile, {"limits.disk_bytes"});
  CHECK(status_of(whole, "network.mode") == "absent");  // its group answered
  CHECK(status_of(whole, "limits.pids") == "enforced");
  CHECK(status_of(whole, "limits.cpu") == "unsupported");
  CHECK(status_of(whole, "limits.disk_bytes") == "unsupported");
  CHECK(status_of(whole, "files:/a") == "partial");
  CHECK(status_of(whole, "files:/a.txt") == "unsupported");
  CHECK(json::get_string(whole, "backend") == "b");
  CHECK(status_of(bh::complete_report({}, profile, {}), "limits.pids") == "unsupported");
}

TEST_CASE("required rules") {
  struct Row {
    const char* rules;
    bool good;
  };
  const Row rows[] = {
      {R"([{"rule":"network.mode","status":"enforced"}])", true},
      {R"([{"rule":"network","status":"enforced"}])", true},
      {R"([{"rule":"network.mode","status":"partial","reason":"half"}])", false},
      {R"([{"rule":"network.mode","status":"unsupported"}])", false},
      {R"([{"rule":"network.mode","status":"more than enforced"}])", false},
      {R"([{"rule":"network.mode"}])", false},
      {R"([{"rule":"network.allow","status":"enforced"}])", false},
      {R"([])", false},
      {R"([{"rule":"network.mode","status":"unsupported"},{"rule":"network.mode","status":"enforced"}])",
       false},
      {R"([{"rule":"network.mode","status":"enforced"},{"rule":"network.mode","status":"unsupported"}])",
       false},
  };
  for (const Row& row : rows) {
    INFO(row.rules);
    json::object report;
    report["rules"] = json::parse(row.rules).value();
    auto checked = bh::check_required(report, {"network.mode"}, "fake");
    CHECK(checked.has_value() == row.good);
    if (checked) continue;
    CHECK(checked.error().code == BH_FAILED_PRECONDITION);
    CHECK(checked.error().message.find("network.mode") != std::string::npos);
    auto details = object(checked.error().details.c_str());
    CHECK(json::get_string(details, "reason") == "not_enforced");
    CHECK(json::get_array(details, "rules")->size() == 1);
  }
  CHECK(bh::check_required({}, {}, "fake"));
}

TEST_CASE("network.mode is required where a profile has no list, but for process") {
  using Names = std::vector<std::string>;
  CHECK(bh::required_of({}, "bwrap") == Names{"network.mode"});
  CHECK(bh::required_of({}, "process").empty());
  CHECK(bh::required_of(object(R"({"required":[]})"), "bwrap").empty());
  CHECK(bh::required_of(object(R"({"required":["limits.pids"]})"), "process") ==
        Names{"limits.pids"});
}

TEST_CASE("the key of a shape is the same for the same, whatever the order") {
  auto one = object(R"({"a":{"x":1,"y":[{"k":1,"l":2}]},"b":2})");
  auto two = object(R"({"b":2,"a":{"y":[{"l":2,"k":1}],"x":1}})");
  const std::string key = bh::shape_key("p", "b", one);
  CHECK(key.size() == 32);
  CHECK(key == bh::shape_key("p", "b", two));
  CHECK(key != bh::shape_key("q", "b", one));
  CHECK(key != bh::shape_key("p", "c", one));
  CHECK(key != bh::shape_key("p", "b", object(R"({"a":{"x":1,"y":[]},"b":2})")));
}

TEST_CASE("new names are valid and differ") {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; i++) {
    std::string name = bh::new_name('s');
    CHECK(bh::valid_sandbox_id(name));
    CHECK(name.substr(0, 2) == "s-");
    seen.insert(name);
  }
  CHECK(seen.size() == 1000);
}
