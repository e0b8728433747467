#include "api/config.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "base/own_folder.h"
#include "core/schema.h"
#include "operations/catalogue.h"

namespace bh {
namespace {

const Schema& config_schema() {
  static const Schema* const schema = [] {
    std::string text =
        R"({"type":"object","properties":{"version":{"const":1},"data_root":{"type":"string"},"config_dir":{"type":"string"},)"
        R"("plugins":{"type":"object","additionalProperties":true},)"
        R"("isolation":{"type":"object","properties":{"backend":{"type":"string"},"allow_unisolated":{"type":"boolean"},"config":{"type":"object","additionalProperties":{"type":"object","additionalProperties":true}}}},)"
        R"("files":{"type":"object","properties":{"store":{"type":"string"},"max_bytes":{"type":"integer","minimum":1},"config":{"type":"object","additionalProperties":{"type":"object","additionalProperties":true}}}},)"
        R"("images":{"type":"object","properties":{"max_bytes":{"type":"integer","minimum":1}},"additionalProperties":{"type":"object","minProperties":1,"maxProperties":1,"properties":{"root":{"enum":["host"]},"image":{"type":"string","minLength":1}}}},)"
        R"("sandbox":{"type":"object","properties":{"lease_wait_ms":{"type":"integer","minimum":0,"maximum":3600000},"idle_ms":{"type":"integer","minimum":1000},"most":{"type":"integer","minimum":1}}},)"
        R"("toolsets":{"type":"object","properties":{"config":{"type":"object","additionalProperties":{"type":"object","additionalProperties":true}}}},)"
        R"("defaults":{"type":"object","properties":{"workspace":{"type":"string"},"network":{"enum":["off","limited","allowed_hosts","unrestricted"]},"limits":)" +
        limits_schema() +
        R"(,"env":{"type":"object","properties":{"allow":{"type":"array","items":{"type":"string"}}}}}},)"
        R"("workers":{"type":"integer","minimum":1,"maximum":4096},)"
        R"("log":{"type":"object","properties":{"level":{"enum":["trace","debug","info","warn","error"]},"file":{"type":"string"}}}}})";
    Schema::Options closed;
    closed.closed = true;
    closed.subject = "config";
    static const std::shared_ptr<const Schema> kept = Schema::compile(text, closed).value();
    return kept.get();
  }();
  return *schema;
}

std::string from_environment(const char* name) {
  const char* value = ::secure_getenv(name);
  return value != nullptr ? value : "";
}

std::string home_folder() {
  std::string home = from_environment("HOME");
  if (!home.empty()) return home;
  passwd entry{};
  passwd* found = nullptr;
  char buffer[4096];
  if (::getpwuid_r(::getuid(), &entry, buffer, sizeof buffer, &found) != 0 || found == nullptr) {
    return {};
  }
  return found->pw_dir;
}

Result<std::string> data_root_of(const json::object& config, const std::string& home) {
  std::string path(json::get_string(config, "data_root"));
  if (path.empty()) {
    std::string data = from_environment("XDG_DATA_HOME");
    if (data.empty() && !home.empty()) data = home + "/.local/share";
    if (!data.empty()) path = data + "/bulkhead";
  }
  if (path.empty() || path[0] != '/') {
    return fail(BH_INVALID_ARGUMENT,
                path.empty()
                    ? std::string("config /data_root: a folder is needed, since there is no HOME to put it in")
                    : "config /data_root: " + json::quote(path) + " is not an absolute path",
                "config", {{"field", "/data_root"}, {"remedy", "give a path that begins with /"}});
  }
  return path;
}

std::string parent_of(const std::string& path) {
  std::size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? std::string() : path.substr(0, slash);
}

// Our own data, configuration and plugins: who writes there decides what we do.
std::vector<std::string> own_paths(const json::object& config, const RegistryOptions& registry,
                                   const std::string& data_root, const std::string& home) {
  std::vector<std::string> out = {data_root};
  auto add = [&](const std::string& path) {
    if (path.size() > 1 && path[0] == '/') out.push_back(path);
  };
  add(std::string(json::get_string(config, "config_dir")));
  std::string config_home = from_environment("XDG_CONFIG_HOME");
  if (config_home.empty() && !home.empty()) config_home = home + "/.config";
  if (!config_home.empty()) add(config_home + "/bulkhead");
  for (const std::string& folder : registry.search.path) add(folder);
  std::string data_home = from_environment("XDG_DATA_HOME");
  if (data_home.empty() && !home.empty()) data_home = home + "/.local/share";
  if (!data_home.empty()) add(data_home + "/bulkhead");
  std::string listed = from_environment("BH_PLUGIN_PATH");
  for (std::size_t at = 0; at < listed.size();) {
    std::size_t end = std::min(listed.find(':', at), listed.size());
    add(listed.substr(at, end - at));
    at = end + 1;
  }
  add("/usr/local/lib/bulkhead/plugins");
  add("/usr/lib/bulkhead/plugins");
  // Written by us, with words of commands in it, wherever a link in its place would lead.
  if (const json::object* log = json::get_object(config, "log")) {
    add(std::string(json::get_string(*log, "file")));
  }
  return out;
}

// What no profile can show: our own places, and the keys and sockets with which a command could act
// as the user.
std::vector<std::string> hidden_paths(std::vector<std::string> out, const std::string& home) {
  auto add = [&](const std::string& path) {
    if (path.size() > 1 && path[0] == '/') out.push_back(path);
  };
  add("/run");
  add(from_environment("XDG_RUNTIME_DIR"));
  add(parent_of(from_environment("SSH_AUTH_SOCK")));
  if (!home.empty()) {
    for (const char* secret : {".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc",
                               ".config/gh", ".config/gcloud", ".password-store"}) {
      add(home + "/" + secret);
    }
  }
  return out;
}

std::map<std::string, json::object> configs_of(const json::object& config, std::string_view kind) {
  std::map<std::string, json::object> out;
  const json::object* group = json::get_object(config, kind);
  const json::object* each = group != nullptr ? json::get_object(*group, "config") : nullptr;
  if (each == nullptr) return out;
  for (const auto& member : *each) {
    out[std::string(member.key().data(), member.key().size())] = member.value().get_object();
  }
  return out;
}

// Beside the names of images.
constexpr char kMaxBytes[] = "max_bytes";

ImagesSettings images_settings(const json::object& config) {
  ImagesSettings out;
  if (const json::object* images = json::get_object(config, "images")) {
    out.max_bytes = json::get_int(*images, kMaxBytes);
  }
  return out;
}

FilesSettings files_settings(const json::object& config) {
  FilesSettings out;
  out.config = configs_of(config, "files");
  const json::object* files = json::get_object(config, "files");
  if (files == nullptr) return out;
  out.store = json::get_string(*files, "store");
  out.max_bytes = json::get_int(*files, "max_bytes");
  return out;
}

// Whatever folder of the host a store's configuration names holds all personas' files.
std::vector<std::string> folders_of(const FilesSettings& files) {
  std::vector<std::string> out;
  for (const auto& [id, config] : files.config) {
    for (const auto& member : config) {
      const json::string* text = member.value().if_string();
      if (text != nullptr && text->size() > 1 && (*text)[0] == '/') out.emplace_back(*text);
    }
  }
  return out;
}

SandboxSettings sandbox_settings(const json::object& config) {
  SandboxSettings out;
  if (const json::object* isolation = json::get_object(config, "isolation")) {
    out.backend = json::get_string(*isolation, "backend");
    out.allow_unisolated = json::get_bool(*isolation, "allow_unisolated");
  }
  out.backend_config = configs_of(config, "isolation");
  if (const json::object* images = json::get_object(config, "images")) {
    // Whoever names any decides which there are, also that there is none; the limit is no name.
    if (images->size() != 1 || !images->contains(kMaxBytes)) out.images.clear();
    for (const auto& image : *images) {
      if (image.key() == kMaxBytes) continue;
      out.images[std::string(image.key().data(), image.key().size())] = image.value().get_object();
    }
  }
  if (const json::object* sandbox = json::get_object(config, "sandbox")) {
    out.lease_wait_ms = json::get_int(*sandbox, "lease_wait_ms", out.lease_wait_ms);
    out.idle_ms = json::get_int(*sandbox, "idle_ms", out.idle_ms);
    out.most = json::get_int(*sandbox, "most", out.most);
  }
  out.limits = {{"wall_ms", 600'000}, {"memory_bytes", 2'147'483'648}, {"pids", 512}};
  out.env_allow = {"LANG", "LC_*", "TERM", "TZ"};
  const json::object* defaults = json::get_object(config, "defaults");
  if (defaults == nullptr) return out;
  out.workspace = json::get_string(*defaults, "workspace");
  out.network = json::get_string(*defaults, "network", "off");
  if (const json::object* limits = json::get_object(*defaults, "limits")) {
    for (const auto& member : *limits) out.limits[member.key()] = member.value();
  }
  if (const json::object* env = json::get_object(*defaults, "env")) {
    if (const json::array* allow = json::get_array(*env, "allow")) {
      out.env_allow.clear();
      for (const json::value& v : *allow) {
        out.env_allow.emplace_back(std::string_view(v.get_string()));
      }
    }
  }
  return out;
}

json::object shown_settings(const RuntimeConfig& config) {
  const SandboxSettings& s = config.host.sandbox;
  json::array allow;
  for (const std::string& name : s.env_allow) allow.emplace_back(name);
  json::object out;
  out["data_root"] = config.host.data_root;
  out["library"] = own_folder();
  out["defaults"] = {{"workspace", s.workspace.empty() ? json::value(nullptr) : json::value(s.workspace)},
                     {"network", s.network},
                     {"limits", s.limits},
                     {"env", {{"allow", std::move(allow)}}}};
  out["allow_unisolated"] = s.allow_unisolated;
  out["workers"] = config.workers;
  return out;
}

}  // namespace

Result<RuntimeConfig> read_config(std::string_view text) {
  auto parsed = json::parse(text.empty() ? std::string_view("{}") : text);
  if (!parsed) return tl::unexpected(parsed.error().within("the configuration"));
  BH_TRY(config_schema().check(*parsed));
  const json::object& config = parsed->get_object();
  RuntimeConfig out;
  const std::string home = home_folder();
  auto data_root = data_root_of(config, home);
  if (!data_root) return tl::unexpected(std::move(data_root).error());
  out.host.data_root = *data_root;
  json::object plugins;
  if (const json::object* given = json::get_object(config, "plugins")) plugins = *given;
  auto registry = read_registry_options(plugins);
  if (!registry) return tl::unexpected(std::move(registry).error());
  out.host.registry = std::move(*registry);
  out.host.registry.check_schema = [](std::string_view schema) -> Result<void> {
    auto compiled = Schema::compile(schema);
    if (!compiled) return tl::unexpected(std::move(compiled).error());
    return {};
  };
  out.host.registry.probe_memory = out.host.data_root + "/probes";
  out.host.sandbox = sandbox_settings(config);
  out.host.sandbox.home = home;
  out.host.files = files_settings(config);
  out.host.images = images_settings(config);
  out.host.sandbox.own = own_paths(config, out.host.registry, out.host.data_root, home);
  for (std::string& folder : folders_of(out.host.files)) {
    out.host.sandbox.own.push_back(std::move(folder));
  }
  out.host.sandbox.hide = hidden_paths(out.host.sandbox.own, home);
  out.host.toolset_config = configs_of(config, "toolsets");
  out.workers = static_cast<std::size_t>(json::get_int(config, "workers", 256));
  if (const json::object* log = json::get_object(config, "log")) {
    out.log_file = json::get_string(*log, "file");
    out.log_level = log_level_of(json::get_string(*log, "level", "info"));
  }
  out.host.shown = shown_settings(out);
  return out;
}

Result<Session> read_session_config(std::string_view text) {
  auto config = json::parse_object(text.empty() ? std::string_view("{}") : text);
  if (!config) return tl::unexpected(config.error().within("the session's configuration"));
  Session out;
  // The operator is nobody's persona: whoever gives both would get less, or more, than he thinks.
  if (config->contains("persona") && config->contains("operator")) {
    return fail(BH_INVALID_ARGUMENT,
                "the session's configuration has both \"persona\" and \"operator\", which exclude each "
                "other",
                "config",
                {{"field", "/operator"},
                 {"remedy", "leave \"operator\" out for a persona's session, or \"persona\" for the "
                            "operator's"}});
  }
  for (const auto& member : *config) {
    std::string_view key(member.key().data(), member.key().size());
    if (key == "operator" && member.value().is_bool()) {
      out.is_operator = member.value().get_bool();
    } else if (key == "persona" && member.value().is_string()) {
      // With its length: a NUL inside must not make it another persona's name.
      out.persona = std::string_view(member.value().get_string());
    } else {
      return fail(BH_INVALID_ARGUMENT,
                  "the session's configuration takes {\"persona\":NAME} or {\"operator\":true}, not " +
                      json::quote(key),
                  "unknown_key", {{"field", "/" + std::string(key)}});
    }
  }
  bool fits = !out.persona.empty() && out.persona.size() <= 40;
  for (char c : out.persona) {
    fits = fits && ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-');
  }
  if (!fits) {
    return fail(BH_INVALID_ARGUMENT,
                "a persona's name is 1 to 40 of a-z, 0-9 and -, not " + json::quote(out.persona),
                "persona", {{"field", "/persona"}});
  }
  return out;
}

}  // namespace bh
