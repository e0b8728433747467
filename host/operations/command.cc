#include "operations/command.h"

#include <algorithm>

#include "base/base64.h"
#include "operations/catalogue.h"
#include "operations/rooms.h"
#include "operations/wish.h"

namespace bh {

Result<std::vector<std::string>> argv_of(const json::object& args) {
  std::vector<std::string> out;
  for (const json::value& v : *json::get_array(args, "argv")) {
    std::string field = "/argv/" + std::to_string(out.size());
    std::string bytes;
    if (v.is_string()) {
      bytes = std::string(v.get_string().data(), v.get_string().size());
    } else {
      auto decoded = base64::decode(json::get_string(v.get_object(), "base64"));
      if (!decoded) return tl::unexpected(decoded.error().within(field));
      bytes = std::move(*decoded);
    }
    if (bytes.find('\0') != std::string::npos) {
      return fail(BH_INVALID_ARGUMENT, field + " holds a NUL byte, which no argument can", "schema",
                  {{"field", field}});
    }
    out.push_back(std::move(bytes));
  }
  if (out[0].empty()) {
    return fail(BH_INVALID_ARGUMENT, "/argv/0 is empty; it names the program", "schema",
                {{"field", "/argv/0"}});
  }
  return out;
}

json::object options_of(const json::object& args, const json::object& env_of_sandbox) {
  json::object options;
  for (std::string_view key : {"cwd", "env", "user", "tty", "limits"}) {
    if (const json::value* v = args.if_contains(key)) options[key] = *v;
  }
  if (!env_of_sandbox.empty()) {
    json::object env = env_of_sandbox;
    if (const json::object* own = json::get_object(args, "env")) {
      for (const auto& member : *own) env[member.key()] = member.value();
    }
    options["env"] = std::move(env);
  }
  if (args.contains("timeout_ms")) {
    json::value& limits = options["limits"];
    if (!limits.is_object()) limits = json::object();
    std::int64_t limit = json::get_int(args, "timeout_ms");
    std::int64_t stated = json::get_int(limits.get_object(), "wall_ms", limit);
    limits.get_object()["wall_ms"] = std::min(limit, stated);
  }
  return options;
}

Result<void> check_options(const OpenedBackend& opened, const json::object& options) {
  auto split = opened.exec.split(options);
  if (split.unlisted.empty()) return opened.exec.check(split.kept);
  const std::string& rule = split.unlisted.front();
  return fail(BH_UNIMPLEMENTED,
              "the backend " + opened.backend->id() + " does not know the option " + rule +
                  " of a command; leave it out or choose another backend",
              "exec_option_unsupported", {{"field", "/" + rule}, {"backend", opened.backend->id()}});
}

Result<Use> sandbox_for(Call& call, const json::object& args) {
  Sandboxes& sandboxes = rooms_of(call).sandboxes;
  if (!args.contains("sandbox")) return sandboxes.use_default(call, wish_of(args));
  for (std::string_view key : {"backend", "profile", "workspace"}) {
    if (!args.contains(key)) continue;
    return fail(BH_INVALID_ARGUMENT,
                std::string(key) + " belongs to a new sandbox; with \"sandbox\" it is settled already",
                "schema", {{"field", "/" + std::string(key)}});
  }
  return sandboxes.use(call, std::string(json::get_string(args, "sandbox")));
}

std::string command_properties() {
  return R"("sandbox":{"type":"string","description":"Without it: the persona's default sandbox of the shape that backend, profile and workspace give."},)"
      R"("backend":{"type":"string"},"workspace":{"type":"string"},"profile":)" +
      wished_profile_schema() +
      R"(,"argv":{"type":"array","minItems":1,"items":{"anyOf":[{"type":"string"},{"type":"object","required":["base64"],"properties":{"base64":{"type":"string"}},"additionalProperties":false}]}},)"
      R"("cwd":{"type":"string"},"env":{"type":"object","additionalProperties":{"type":"string"}},"user":{"type":"object","additionalProperties":true},)"
      R"("limits":)" +
      limits_schema() +
      R"(,"timeout_ms":{"type":"integer","minimum":1,"description":"Of this command; the profile's limit holds beside it."})";
}

}  // namespace bh
