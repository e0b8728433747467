#include "cli/exec_args.h"

#include "cli/json.h"
#include "support/catch.h"
#include "temp_dir.h"

using namespace bh::cli;

namespace {

struct Place {
  bh_test::TempDir dir;
  Surroundings around;
  Place() {
    around.cwd = dir.make_dir("project");
    around.home = dir.make_dir("home");
    around.env["HOME"] = around.home;
  }
  Result<boost::json::object> args(const Options& options) {
    Result<Setup> setup = make_setup(options, around);
    REQUIRE(setup);
    return exec_args(options, *setup, around);
  }
};

}  // namespace

TEST_CASE("a plain command needs its argv alone") {
  Place place;
  Options o;
  o.command = {"ls", "-l"};
  CHECK(boost::json::serialize(*place.args(o)) == R"({"argv":["ls","-l"]})");
}

TEST_CASE("words that are not UTF-8 travel as bytes") {
  Place place;
  Options o;
  o.command = {"ls", "\xff"};
  CHECK(boost::json::serialize(*place.args(o)) == R"({"argv":["ls",{"base64":"/w=="}]})");
}

TEST_CASE("only the flag names a backend for the call") {
  Place place;
  place.around.env["BULKHEAD_BACKEND"] = "process";
  Options o;
  CHECK_FALSE(place.args(o)->contains("backend"));
  o.backend = "process";
  o.timeout_ms = 1500;
  CHECK(string_at(*place.args(o), "backend") == "process");
  boost::json::object args = *place.args(o);
  CHECK(int_at(args, "timeout_ms") == 1500);
  CHECK(int_at(object_at(object_at(args, "profile"), "limits"), "wall_ms") == 1500);
}

TEST_CASE("a folder of the workspace is the current one inside") {
  Place place;
  Options o;
  o.workspace = place.around.cwd;
  CHECK_FALSE(place.args(o)->contains("cwd"));
  place.around.cwd = place.dir.make_dir("project/sub");
  CHECK(string_at(*place.args(o), "cwd") == place.around.cwd);
  place.around.cwd = place.dir.make_dir("project-other");
  CHECK_FALSE(place.args(o)->contains("cwd"));
}

TEST_CASE("without a workspace there is no command, unless the profile has one") {
  Place place;
  std::string project = place.around.cwd;
  place.around.cwd = place.around.home;
  Options o;
  Result<boost::json::object> refused = place.args(o);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().exit_code == 125);
  CHECK(refused.error().remedy.find("--workspace") != std::string::npos);
  o.profile = place.dir.write("p.json", R"({"workspace":{"source":")" + project + "\"}}");
  CHECK(place.args(o));
  place.dir.write("p.json", R"({"workspace":{"source":")" + place.around.home + "\"}}");
  CHECK_FALSE(place.args(o));
}

TEST_CASE("flags win over the profile, the profile over the rest") {
  Place place;
  std::string other = place.dir.make_dir("other");
  Options o;
  o.profile = place.dir.write("p.json", R"({"network":{"mode":"limited","allow":["a.example.org"]},
      "workspace":{"source":")" + place.around.cwd +
                                            R"(","access":"ro"},"limits":{"pids":9}})");
  place.around.env["BULKHEAD_NET"] = "unrestricted";
  boost::json::object profile = object_at(*place.args(o), "profile");
  CHECK(string_at(object_at(profile, "network"), "mode") == "limited");
  CHECK(string_at(object_at(profile, "workspace"), "source") == place.around.cwd);
  o.net = "off";
  o.workspace = other;
  profile = object_at(*place.args(o), "profile");
  CHECK(boost::json::serialize(object_at(profile, "network")) == R"({"mode":"off"})");
  CHECK(string_at(object_at(profile, "workspace"), "source") == other);
  CHECK(string_at(object_at(profile, "workspace"), "access") == "ro");
  CHECK(int_at(object_at(profile, "limits"), "pids") == 9);
}

TEST_CASE("a profile that cannot be read is refused by name") {
  Place place;
  Options o;
  o.profile = "nowhere.json";
  CHECK(place.args(o).error().message.find("nowhere.json") != std::string::npos);
  o.profile = place.dir.write("bad.json", "{");
  CHECK(place.args(o).error().message.find("bad.json") != std::string::npos);
}
