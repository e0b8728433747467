#include "core/operation.h"

#include <algorithm>
#include <charconv>

#include "base/nearest.h"

namespace bh {

Result<void> Catalogue::add(OperationSpec spec) {
  Schema::Options closed;
  closed.closed = true;
  auto schema = Schema::compile(spec.args_schema, closed);
  if (!schema) return tl::unexpected(schema.error().within("the schema of " + spec.name));
  std::string name = spec.name;
  entries_.insert_or_assign(name, Entry{std::move(spec), std::move(*schema)});
  return {};
}

const Catalogue::Entry* Catalogue::find(std::string_view name) const {
  std::size_t slash = name.find('/');
  auto at = entries_.find(name.substr(0, slash));
  if (at == entries_.end()) return nullptr;
  if (slash == std::string_view::npos) return &at->second;
  return name.substr(slash + 1) == std::to_string(at->second.spec.major) ? &at->second : nullptr;
}

Error unknown_operation(const Catalogue& catalogue, std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& [known, entry] : catalogue.entries()) names.push_back(known);
  std::string message = "there is no operation " + json::quote(name);
  std::string_view near = nearest(name.substr(0, name.find('/')), names);
  if (!near.empty()) message += "; did you mean " + std::string(near) + "?";
  return fail(BH_NOT_FOUND, message, "unknown_operation",
              {{"operation", name}, {"remedy", "operation.list names them all"}})
      .value();
}

Result<json::object> checked_arguments(const Catalogue::Entry& entry, std::string_view json) {
  if (json.size() > kMaxArguments) {
    return fail(BH_RESOURCE_EXHAUSTED,
                "the arguments of " + entry.spec.name + " are longer than 64 MiB",
                "arguments_too_large",
                {{"remedy", "send large content as the call's input or as attachments"}});
  }
  auto parsed = json::parse(json.empty() ? std::string_view("{}") : json);
  if (!parsed) return tl::unexpected(parsed.error().within("the arguments of " + entry.spec.name));
  if (!parsed->is_object()) {
    return fail(BH_INVALID_ARGUMENT, "the arguments of " + entry.spec.name + " are not an object",
                "schema", {{"field", ""}, {"remedy", "put them in { }"}});
  }
  if (auto ok = entry.args->check(*parsed); !ok) {
    return tl::unexpected(ok.error().within(entry.spec.name));
  }
  return std::move(parsed->get_object());
}

}  // namespace bh
