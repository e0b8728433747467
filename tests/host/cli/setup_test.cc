#include "cli/setup.h"

#include <sys/stat.h>

#include "cli/json.h"
#include "support/catch.h"
#include "temp_dir.h"
#include "text.h"

using namespace bh::cli;
using bh_test::TempDir;
using bh_test::has;

namespace {

// A home with a config folder, and a project beside it.
struct Place {
  TempDir dir;
  std::string home = dir.make_dir("home");
  std::string project = dir.make_dir("project");
  Surroundings around;

  Place() {
    around.env["HOME"] = home;
    around.home = home;
    around.cwd = project;
  }
  std::string config(const std::string& text, mode_t mode = 0600) {
    return dir.write("home/.config/bulkhead/config.json", text, mode);
  }
  Setup setup(const Options& options = {}) {
    Result<Setup> s = make_setup(options, around);
    if (!s) FAIL(sentence(s.error()));
    return *s;
  }
  Problem refused(const Options& options = {}) {
    Result<Setup> s = make_setup(options, around);
    if (s) FAIL("was not refused");
    return s.error();
  }
};

boost::json::object runtime_of(const Setup& s) { return parse_object_or_empty(s.runtime_config); }

}  // namespace

TEST_CASE("flags come before the environment, and that before the file") {
  struct Row {
    const char* flag;
    const char* env;
    const char* file;
    const char* value;
    const char* source;
  };
  const Row rows[] = {
      {"unrestricted", "off", "off", "unrestricted", "flag"},
      {nullptr, "unrestricted", "off", "unrestricted", "env"},
      {nullptr, nullptr, "unrestricted", "unrestricted", "config file"},
      {nullptr, nullptr, nullptr, "off", "default"},
      {"off", nullptr, "unrestricted", "off", "flag"},
      {nullptr, "", "unrestricted", "unrestricted", "config file"},  // empty counts as absent
  };
  for (const Row& row : rows) {
    Place place;
    Options o;
    if (row.flag != nullptr) o.net = row.flag;
    if (row.env != nullptr) place.around.env["BULKHEAD_NET"] = row.env;
    if (row.file != nullptr) {
      place.config(std::string(R"({"defaults":{"network":")") + row.file + "\"}}");
    }
    Setup s = place.setup(o);
    CAPTURE(row.value, row.source);
    CHECK(s.network.value == row.value);
    std::string source = s.network.source;
    if (source == "--net") source = "flag";
    if (source == "BULKHEAD_NET") source = "env";
    CHECK(source == row.source);
    std::string said = string_at(object_at(runtime_of(s), "defaults"), "network");
    CHECK(said == (source == "default" ? "" : row.value));
  }
}

TEST_CASE("a folder that all users share is no workspace, one below it is") {
  Place place;
  std::string shared = place.dir.make_dir("shared");
  REQUIRE(::chmod(shared.c_str(), 01777) == 0);
  Result<std::string> real = check_workspace(shared, place.around);
  REQUIRE_FALSE(real);
  CHECK(real.error().message.find("share") != std::string::npos);
  CHECK(check_workspace(place.dir.make_dir("shared/mine"), place.around));
}

TEST_CASE("each setting has its flag, its variable and its key") {
  Place place;
  std::string other = place.dir.make_dir("other");
  place.config(R"({"data_root":"/from/file","isolation":{"backend":"file"}})");
  Setup s = place.setup();
  CHECK(s.backend.value == "file");
  CHECK(s.data_root.value == "/from/file");
  CHECK(s.persona.value == "default");
  CHECK(s.session_config == R"({"persona":"default"})");

  place.around.env["BULKHEAD_DATA_ROOT"] = "/from/env";
  place.around.env["BULKHEAD_BACKEND"] = "env";
  place.around.env["BULKHEAD_PERSONA"] = "env-persona";
  place.around.env["BULKHEAD_WORKSPACE"] = other;
  s = place.setup();
  CHECK(string_at(runtime_of(s), "data_root") == "/from/env");
  CHECK(string_at(object_at(runtime_of(s), "isolation"), "backend") == "env");
  CHECK(s.session_config == R"({"persona":"env-persona"})");
  CHECK(s.workspace.value == other);
  CHECK(s.workspace.source == "BULKHEAD_WORKSPACE");

  Options o;
  o.data_root = "relative";
  o.backend = "flag";
  o.persona = "flag-persona";
  o.workspace = ".";
  s = place.setup(o);
  CHECK(string_at(runtime_of(s), "data_root") == place.project + "/relative");
  CHECK(string_at(object_at(runtime_of(s), "isolation"), "backend") == "flag");
  CHECK(s.session_config == R"({"persona":"flag-persona"})");
  CHECK(s.workspace.value == place.project);
  CHECK(string_at(object_at(runtime_of(s), "defaults"), "workspace") == place.project);
}

TEST_CASE("keys that the program does not know reach the library") {
  Place place;
  place.config(
      R"({"version":7,"surprise":[1],"isolation":{"allow_unisolated":true},"log":{"level":"debug"}})");
  boost::json::object config = runtime_of(place.setup());
  CHECK(int_at(config, "version") == 7);
  CHECK(config.contains("surprise"));
  CHECK(bool_at(object_at(config, "isolation"), "allow_unisolated"));
  CHECK(string_at(object_at(config, "log"), "level") == "debug");
}

TEST_CASE("without a file the library still gets a version") {
  Place place;
  Setup s = place.setup();
  CHECK_FALSE(s.file.found);
  CHECK(int_at(runtime_of(s), "version") == 1);
  CHECK(string_at(runtime_of(s), "config_dir") == place.home + "/.config/bulkhead");
}

TEST_CASE("plugin folders of flags come first and absolute") {
  Place place;
  place.config(R"({"plugins":{"path":["/from/file"],"system":false}})");
  Options o;
  o.plugin_path = {"build/plugins", "/abs"};
  boost::json::object plugins = object_at(runtime_of(place.setup(o)), "plugins");
  CHECK(boost::json::serialize(array_at(plugins, "path")) ==
        "[\"" + place.project + "/build/plugins\",\"/abs\",\"/from/file\"]");
  CHECK_FALSE(bool_at(plugins, "system", true));
}

TEST_CASE("the file has to be its user's alone") {
  Place place;
  place.config("{}", 0620);
  CHECK(has(place.refused().message, "can be written by others"));
  CHECK(has(place.refused().remedy, "chmod go-w"));
  place.config("{}", 0602);
  CHECK(has(place.refused().message, "can be written by others"));
  std::string file = place.config("{}", 0644);
  CHECK(place.setup().file.found);
  if (::geteuid() == 0) {
    REQUIRE(::chown(file.c_str(), 65534, 65534) == 0);
    CHECK(has(place.refused().message, "belongs to another user"));
  }
}

TEST_CASE("a file that is named has to be there") {
  Place place;
  Options o;
  o.config = "nowhere.json";
  CHECK(has(place.refused(o).message, place.project + "/nowhere.json"));
  place.around.env["BULKHEAD_CONFIG"] = "/nowhere/else.json";
  CHECK(has(place.refused().message, "/nowhere/else.json"));
  o.config = place.dir.write("project/own.json", "{}");
  Setup s = place.setup(o);
  CHECK(s.file.found);
  // It lies in the workspace: its folder must not be hidden from the commands.
  CHECK(string_at(runtime_of(s), "config_dir") == *o.config);
}

TEST_CASE("a folder or a fifo is not a config file") {
  Place place;
  Options o;
  o.config = place.dir.make_dir("project/dir.json");
  CHECK(has(place.refused(o).message, "not a regular file"));
  std::string fifo = place.project + "/fifo.json";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  o.config = fifo;
  CHECK(has(place.refused(o).message, "not a regular file"));
}

TEST_CASE("a broken file is named with the place of the mistake") {
  Place place;
  place.config("{\n  \"a\": 1,\n  oops\n}");
  CHECK(has(place.refused().message, "line 3, column 3"));
  place.config("[1]");
  CHECK(has(place.refused().message, "must be a JSON object"));
  place.config(R"({"isolation":{"allow_unisolated":false,"allow_unisolated":true}})");
  CHECK(has(place.refused().message, "\"allow_unisolated\" twice"));
  place.config(R"({"defaults":7})");
  Options o;
  o.net = "off";
  CHECK(has(place.refused(o).message, "at /defaults: expected an object"));
}

TEST_CASE("neither / nor HOME nor what is above it can be the workspace") {
  Place place;
  place.around.cwd = "/";
  Setup s = place.setup();
  REQUIRE(s.workspace_problem);
  CHECK(s.workspace_problem->exit_code == 125);
  CHECK(has(s.workspace_problem->remedy, "--workspace"));
  CHECK_FALSE(object_at(runtime_of(s), "defaults").contains("workspace"));

  place.around.cwd = place.home;
  CHECK(place.setup().workspace_problem);
  place.around.cwd = place.dir.path();
  CHECK(place.setup().workspace_problem);
  Options o;
  o.workspace = place.home + "/../home";
  CHECK(place.setup(o).workspace_problem);
  std::filesystem::create_directory_symlink(place.home, place.dir.path() + "/link");
  o.workspace = place.dir.path() + "/link";
  CHECK(place.setup(o).workspace_problem);

  place.around.cwd = place.dir.make_dir("home/project");
  CHECK_FALSE(place.setup().workspace_problem);
  place.around.cwd = place.dir.make_dir("home-of-nobody");
  CHECK_FALSE(place.setup().workspace_problem);
}

TEST_CASE("a workspace is a folder that is there, known without symlinks") {
  Place place;
  Options o;
  o.workspace = "nowhere";
  CHECK(has(place.setup(o).workspace_problem->message, "/nowhere"));
  o.workspace = place.dir.write("project/file", "x");
  CHECK(has(place.setup(o).workspace_problem->message, "not a folder"));
  std::filesystem::create_directory_symlink(place.project, place.dir.path() + "/link");
  o.workspace = place.dir.path() + "/link";
  CHECK(place.setup(o).workspace.value == place.project);
}

TEST_CASE("XDG_CONFIG_HOME moves the file, a relative one does not") {
  Place place;
  place.dir.write("xdg/bulkhead/config.json", R"({"data_root":"/xdg"})");
  place.around.env["XDG_CONFIG_HOME"] = place.dir.path() + "/xdg";
  CHECK(place.setup().data_root.value == "/xdg");
  place.around.env["XDG_CONFIG_HOME"] = "xdg";
  CHECK(place.setup().data_root.value.empty());
}
