#include "cli/setup.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cstring>
#include <initializer_list>
#include <memory>

#include "cli/json.h"
#include "cli/output.h"

namespace bh::cli {
namespace {

namespace json = boost::json;

constexpr const char* kWorkspaceRemedy =
    "go into a project's folder, or name one with --workspace DIR";

// The same file whatever the names on the way; empty with errno where there is none.
std::string real_path(const std::string& path) {
  std::unique_ptr<char, decltype(&::free)> p(::realpath(path.c_str(), nullptr), &::free);
  return p ? std::string(p.get()) : std::string();
}

bool is_or_holds(const std::string& folder, const std::string& path) {
  if (folder == "/") return true;
  return path == folder || (path.size() > folder.size() && path[folder.size()] == '/' &&
                            path.compare(0, folder.size(), folder) == 0);
}

Setting choose(const std::optional<std::string>& flag, const char* flag_name,
               const Surroundings& around, const char* variable, const std::string& from_file,
               const std::string& otherwise) {
  if (flag) return {*flag, flag_name};
  if (const std::string* env = around.var(variable)) return {*env, variable};
  if (!from_file.empty()) return {from_file, "config file"};
  return {otherwise, "default"};
}

bool given_here(const Setting& s) { return s.source != "config file" && s.source != "default"; }

Result<void> set_at(json::object& config, std::initializer_list<std::string_view> path,
                    std::string_view key, json::value value) {
  json::object* at = make_at(config, path);
  if (at == nullptr) {
    std::string name;
    for (std::string_view part : path) name += (name.empty() ? "" : ".") + std::string(part);
    return problem("the config file at /" + name + ": expected an object",
                   "write \"" + name + "\": {…}");
  }
  (*at)[json::string_view(key.data(), key.size())] = std::move(value);
  return {};
}

// Paths of --plugin-path come before those of the file: the first plugin of an id wins.
Result<void> add_plugin_paths(json::object& config, const Options& options,
                              const Surroundings& around) {
  if (options.plugin_path.empty()) return {};
  json::array paths;
  for (const std::string& p : options.plugin_path) paths.emplace_back(around.absolute(p));
  for (const json::value& v : array_at(object_at(config, "plugins"), "path")) paths.push_back(v);
  return set_at(config, {"plugins"}, "path", std::move(paths));
}

// The folder of the default file is hidden from sandboxes; of a file named elsewhere only the
// file itself, since it may lie in the project that the commands are about.
std::string hidden_config(const ConfigFile& file, const Surroundings& around) {
  std::string dir = default_config_dir(around);
  if (!file.found || is_or_holds(dir, file.path)) return dir;
  return file.path;
}

// What was typed, or stands in the environment, holds above the file; the file is told for its own
// keys alone, since the rest of the configuration is the program's.
Named named_of(const Setup& setup) {
  Named named;
  auto say = [&](std::string place, const Setting& setting) {
    if (given_here(setting)) named.origins.push_back({place, setting.source, place});
  };
  say("/persona", setup.persona);
  say("/isolation/backend", setup.backend);
  say("/defaults/network", setup.network);
  say("/data_root", setup.data_root);
  if (!setup.file.found) return named;
  named.config_file = setup.file.path;
  for (const auto& member : setup.file.values) {
    named.origins.push_back({"/" + std::string(member.key()), "the config file " + setup.file.path, {}});
  }
  return named;
}

}  // namespace

Result<std::string> check_workspace(const std::string& path, const Surroundings& around) {
  std::string real = real_path(path);
  if (real.empty()) {
    return problem("the workspace " + path + " cannot be used: " + std::strerror(errno),
                   "name an existing folder with --workspace DIR");
  }
  struct stat st {};
  if (::stat(real.c_str(), &st) != 0 || !S_ISDIR(st.st_mode)) {
    return problem("the workspace " + path + " is not a folder",
                   "name an existing folder with --workspace DIR");
  }
  if (real == "/") {
    return problem("/ cannot be the workspace, commands could then write everywhere",
                   kWorkspaceRemedy);
  }
  if ((st.st_mode & S_ISVTX) != 0 && (st.st_mode & S_IWOTH) != 0) {
    return problem(real + " cannot be the workspace, all users of this machine share it, with the "
                       "sockets of their programs",
                   kWorkspaceRemedy);
  }
  std::string home = around.home.empty() ? std::string() : real_path(around.home);
  if (!home.empty() && home != "/" && is_or_holds(real, home)) {
    return problem((real == home ? "your home folder " : "the folder above your home, ") + real +
                       (real == home ? " " : ", ") +
                       "cannot be the workspace, commands could then read and change all you have",
                   kWorkspaceRemedy);
  }
  return real;
}

Result<void> settle_workspace(const Setup& setup) {
  if (!setup.workspace_problem) return {};
  Problem p = *setup.workspace_problem;
  if (setup.workspace.source != "default") return tl::unexpected<Problem>(std::move(p));
  p.message += "; the persona's own folder is used";
  p.remedy = "--workspace DIR names another";
  complain(sentence(p));
  return {};
}

Result<Setup> make_setup(const Options& options, const Surroundings& around) {
  Result<ConfigFile> file = read_config_file(options, around);
  if (!file) return tl::unexpected<Problem>(std::move(file.error()));
  Setup setup;
  setup.file = std::move(*file);
  json::object config = setup.file.values;

  const json::object& defaults = object_at(config, "defaults");
  setup.persona = choose(options.persona, "--persona", around, "BULKHEAD_PERSONA", {}, "default");
  setup.backend = choose(options.backend, "--backend", around, "BULKHEAD_BACKEND",
                         string_at(object_at(config, "isolation"), "backend"), {});
  setup.workspace = choose(options.workspace, "--workspace", around, "BULKHEAD_WORKSPACE",
                           string_at(defaults, "workspace"), around.cwd);
  setup.network =
      choose(options.net, "--net", around, "BULKHEAD_NET", string_at(defaults, "network"), "off");
  setup.data_root = choose(options.data_root, "--data-root", around, "BULKHEAD_DATA_ROOT",
                           string_at(config, "data_root"), {});

  Result<void> done;
  auto set = [&](std::initializer_list<std::string_view> path, std::string_view key,
                 json::value value) {
    if (done) done = set_at(config, path, key, std::move(value));
  };
  if (!config.contains("version")) config["version"] = 1;
  if (given_here(setup.backend)) set({"isolation"}, "backend", json::value(setup.backend.value));
  if (given_here(setup.network)) set({"defaults"}, "network", json::value(setup.network.value));
  if (given_here(setup.data_root)) {
    setup.data_root.value = around.absolute(setup.data_root.value);
    set({}, "data_root", json::value(setup.data_root.value));
  }
  Result<std::string> workspace = check_workspace(around.absolute(setup.workspace.value), around);
  if (workspace) {
    setup.workspace.value = *workspace;
    set({"defaults"}, "workspace", json::value(*workspace));
  } else {
    setup.workspace_problem = std::move(workspace.error());
    setup.workspace.value.clear();
    // Without one the library would not see the refused folder either.
    if (json::object* d = make_at(config, {"defaults"})) d->erase("workspace");
  }
  std::string hidden = hidden_config(setup.file, around);
  if (!config.contains("config_dir") && !hidden.empty()) set({}, "config_dir", json::value(hidden));
  if (done) done = add_plugin_paths(config, options, around);
  if (!done) return tl::unexpected<Problem>(std::move(done.error()));

  setup.named = named_of(setup);
  setup.runtime_config = json::serialize(config);
  setup.session_config = json::serialize(json::object{{"persona", setup.persona.value}});
  return setup;
}

}  // namespace bh::cli
