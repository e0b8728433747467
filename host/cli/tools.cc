#include <unistd.h>

#include "cli/client.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/verbs.h"

namespace bh::cli {
namespace {

namespace json = boost::json;

// "command, timeout?": what has to be given, then what may be.
std::string arguments_of(const json::object& tool) {
  const json::object& schema = object_at(tool, "input_schema");
  std::string text;
  std::string optional;
  for (const auto& property : object_at(schema, "properties")) {
    std::string name(property.key().data(), property.key().size());
    bool required = false;
    for (const json::value& v : array_at(schema, "required")) {
      required = required || (v.is_string() && v.get_string() == property.key());
    }
    std::string& into = required ? text : optional;
    into += (into.empty() ? "" : ", ") + name + (required ? "" : "?");
  }
  if (!text.empty() && !optional.empty()) text += ", ";
  return text + optional;
}

std::string for_people(const std::vector<std::string>& items) {
  if (items.empty()) {
    return "There are no tools here; `bulkhead plugins` shows which plugins were loaded.\n";
  }
  Table table({"TOOL", "ARGUMENTS", "WHAT IT DOES"});
  for (const std::string& item : items) {
    json::object tool = parse_object_or_empty(item);
    table.row({string_at(tool, "name"), arguments_of(tool),
               std::string(first_sentence(string_at(tool, "description")))});
  }
  return table.text(Palette::for_fd(STDOUT_FILENO), columns_of(STDOUT_FILENO));
}

std::string for_machines(const std::vector<std::string>& items) {
  // The items stand as the library wrote them.
  std::string text = "{\"tools\":[";
  for (const std::string& item : items) text += (text.back() == '[' ? "" : ",") + item;
  return text + "],\"count\":" + std::to_string(items.size()) + "}\n";
}

}  // namespace

int verb_tools(const Options& options, const Surroundings& around) {
  Result<Setup> setup = make_setup(options, around);
  if (!setup) return fail(failure_of(setup.error()), options.json);
  tl::expected<Client, Failure> client = Client::open(*setup);
  if (!client) return fail(client.error(), options.json);
  tl::expected<Answer, Failure> answer = client->ask("tool.list", "{}", "listing the tools");
  if (!answer) return fail(answer.error(), options.json);
  const json::object result = parse_object_or_empty(answer->result);
  for (const json::value& why : array_at(result, "left_out")) {
    if (why.is_string()) {
      complain("bulkhead: " + printable(in_cli_words(why.get_string(), client->named())) + "\n");
    }
  }
  std::string text = options.json ? for_machines(answer->items) : for_people(answer->items);
  return print(text) ? kExitOk : kExitOurs;
}

}  // namespace bh::cli
