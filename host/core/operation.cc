#include "core/operation.h"

#include <algorithm>
#include <charconv>

#include "base/nearest.h"

namespace bh {

Result<std::shared_ptr<const Schema>> LateSchema::of(const std::string& text) const {
  std::call_once(once_, [&] {
    Schema::Options closed;
    closed.closed = true;
    auto schema = Schema::compile(text, closed);
    if (schema) {
      schema_ = std::move(*schema);
    } else {
      error_ = std::move(schema).error();
    }
  });
  if (schema_ == nullptr) return tl::unexpected(error_);
  return schema_;
}

Result<std::shared_ptr<const Schema>> Catalogue::Entry::args() const {
  auto schema = late->of(spec.args_schema);
  if (schema) return schema;
  // A fault of ours, whatever the caller sent.
  Error error = schema.error().within("the schema of " + spec.name);
  error.code = BH_INTERNAL;
  return tl::unexpected(std::move(error));
}

void Catalogue::add(OperationSpec spec) {
  std::string name = spec.name;
  entries_.insert_or_assign(std::move(name), Entry{std::move(spec), std::make_shared<LateSchema>()});
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
  auto schema = entry.args();
  if (!schema) return tl::unexpected(std::move(schema).error());
  if (auto ok = (*schema)->check(*parsed); !ok) {
    return tl::unexpected(ok.error().within(entry.spec.name));
  }
  return std::move(parsed->get_object());
}

}  // namespace bh
