#include "cli/words.h"

#include "cli/exec_args.h"
#include "cli/json.h"
#include "support/catch.h"
#include "temp_dir.h"

using namespace bh::cli;

namespace {

std::string said(std::string_view message, std::string_view field, const Named& named) {
  boost::json::object details;
  if (!field.empty()) details["field"] = boost::json::string_view(field.data(), field.size());
  return message_in_cli_words(message, details, named);
}

}  // namespace

TEST_CASE("operations become verbs, and what others said stays") {
  CHECK(in_cli_words("tool.list names those that there are") ==
        "`bulkhead tools` names those that there are");
  CHECK(in_cli_words("plugin.list says where they were looked for") ==
        "`bulkhead plugins` says where they were looked for");
  CHECK(in_cli_words("look at sandbox.list.") == "look at `bulkhead call sandbox_list`.");
  CHECK(in_cli_words("there is no tool \"tool.list\"") == "there is no tool \"tool.list\"");
  CHECK(in_cli_words("my.tool.list, tool.lists and /x/tool.list") ==
        "my.tool.list, tool.lists and /x/tool.list");
}

TEST_CASE("what a profile gets wrong is told by the file's name and the place in it") {
  const Named named{{}, {{"/profile", "the profile /p.json", "/profile"}}};
  CHECK(said("sandbox.exec: arguments /profile/limits/cpu: expected more than 0, got 0",
             "/profile/limits/cpu", named) ==
        "the profile /p.json at /limits/cpu: expected more than 0, got 0");
  CHECK(said("sandbox.exec: arguments /profile: unknown key \"colour\"", "/profile/colour", named) ==
        "the profile /p.json: unknown key \"colour\"");
  CHECK(said("/profile/mounts/0/source: \"/x\" is not there", "/profile/mounts/0/source", named) ==
        "the profile /p.json at /mounts/0/source: \"/x\" is not there");
  CHECK(said("the home \"/x\" is refused", "/profile/home/source", named) ==
        "the profile /p.json at /home/source: the home \"/x\" is refused");
  CHECK(said("something else", "/profiles", named) == "something else");
  CHECK(said("sandbox.exec: something else", "", named) == "something else");
}

TEST_CASE("what the config file gets wrong is told by the file's name") {
  const Named named{"/c.json",
                    {{"/defaults/network", "--net", "/defaults/network"},
                     {"/defaults", "the config file /c.json", {}},
                     {"/colour", "the config file /c.json", {}}}};
  CHECK(said("config /defaults/limits/cpu: expected more than 0", "/defaults/limits/cpu", named) ==
        "the config file /c.json at /defaults/limits/cpu: expected more than 0");
  CHECK(said("config: unknown key \"colour\"", "/colour", named) ==
        "the config file /c.json: unknown key \"colour\"");
  CHECK(said("config /defaults/network: expected \"off\"", "/defaults/network", named) ==
        "--net: expected \"off\"");
  CHECK(said("/defaults/x must be a list", "/defaults/x", named) ==
        "the config file /c.json at /defaults/x: must be a list");
  // Not in the file: the program's own default is nobody's mistake in it.
  CHECK(said("config /data_root: no", "/data_root", named) == "config /data_root: no");
  CHECK(in_cli_words("it cannot work: config /isolation/config/b: unknown key", named) ==
        "it cannot work: the config file /c.json at /isolation/config/b: unknown key");
}

TEST_CASE("a flag is told before the profile that it stands above") {
  Options o;
  o.backend = "b";
  o.timeout_ms = 5;
  o.net = "off";
  o.profile = "p.json";
  Surroundings around;
  around.cwd = "/w";
  const Named named = named_of_exec(o, Setup{}, around);
  CHECK(said("there is no backend", "/backend", named) == "--backend: there is no backend");
  CHECK(said("arguments /profile/network/mode: expected", "/profile/network/mode", named) ==
        "--net at /mode: expected");
  CHECK(said("arguments /profile/limits/wall_ms: expected", "/profile/limits/wall_ms", named) ==
        "--timeout: expected");
  CHECK(said("arguments /profile/limits/pids: expected", "/profile/limits/pids", named) ==
        "the profile /w/p.json at /limits/pids: expected");
}
