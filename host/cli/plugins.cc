#include <unistd.h>

#include "cli/client.h"
#include "cli/json.h"
#include "cli/table.h"
#include "cli/verbs.h"

namespace bh::cli {
namespace {

namespace json = boost::json;

std::string provided(const json::object& plugin) {
  std::string text;
  for (const json::value& v : array_at(plugin, "provides")) {
    if (!v.is_object()) continue;
    std::string interface = string_at(v.get_object(), "interface");
    // "bh.isolation/1" is for machines.
    std::size_t dot = interface.rfind('.');
    std::string kind = interface.substr(dot == std::string::npos ? 0 : dot + 1);
    kind = kind.substr(0, kind.find('/'));
    text += (text.empty() ? "" : ", ") + kind + " " + string_at(v.get_object(), "id");
  }
  return text;
}

std::string for_people(const json::object& result) {
  Palette palette = Palette::for_fd(STDOUT_FILENO);
  Table table({"PLUGIN", "VERSION", "STATUS", "PROVIDES", "FROM"});
  std::string reasons;
  for (const json::value& v : array_at(result, "plugins")) {
    if (!v.is_object()) continue;
    const json::object& p = v.get_object();
    const std::string id = string_at(p, "id");
    std::string status = string_at(p, "status");
    const std::string path = string_at(p, "path");
    table.row({id.empty() ? "?" : id, string_at(p, "version"), status, provided(p), path},
              paint_of(status), 2);
    std::string message = string_at(p, "message");
    if (message.empty()) continue;
    Problem why{message, string_at(p, "hint")};
    // Where the manifest cannot be read there is no id, and its folder says which one is meant.
    reasons += (id.empty() ? path : id) + ": " +
               sentence(why).substr(std::string("bulkhead: ").size());
  }
  if (table.empty()) {
    Table places({"LOOKED IN", "STATUS", "WHY"});
    for (const json::value& v : array_at(result, "searched")) {
      if (!v.is_object()) continue;
      const json::object& s = v.get_object();
      places.row({string_at(s, "path"), string_at(s, "status"), string_at(s, "message")});
    }
    return "No plugins were found; --plugin-path DIR names another place to look.\n\n" +
           places.text(palette);
  }
  std::string text = table.text(palette);
  if (!reasons.empty()) text += "\n" + reasons;
  return text;
}

}  // namespace

int verb_plugins(const Options& options, const Surroundings& around) {
  Result<Setup> setup = make_setup(options, around);
  if (!setup) return fail(failure_of(setup.error()), options.json);
  tl::expected<Client, Failure> client = Client::open(*setup);
  if (!client) return fail(client.error(), options.json);
  tl::expected<Answer, Failure> answer = client->ask("plugin.list", "{}", "looking at the plugins");
  if (!answer) return fail(answer.error(), options.json);
  std::string text =
      options.json ? answer->result + "\n" : for_people(parse_object_or_empty(answer->result));
  return print(text) ? kExitOk : kExitOurs;
}

}  // namespace bh::cli
