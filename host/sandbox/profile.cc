#include "sandbox/profile.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

namespace bh {
namespace {

Failure refused(const std::string& path, const std::string& why) {
  return fail(BH_PERMISSION_DENIED, "the workspace " + json::quote(path) + " is refused: " + why,
              "workspace_refused",
              {{"field", "/workspace"},
               {"remedy", "name a project folder, with --workspace or \"workspace\""}});
}

Result<std::string> real_folder(const std::string& path) {
  if (path.empty() || path[0] != '/') return refused(path, "it is not an absolute path");
  std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &std::free);
  if (!real) {
    return refused(path, errno == ENOENT ? "it is not there" : "it cannot be reached");
  }
  struct stat st {};
  if (::stat(real.get(), &st) != 0 || !S_ISDIR(st.st_mode)) {
    return refused(path, "it is not a folder");
  }
  return std::string(real.get());
}

bool is_same_folder(const std::string& a, const std::string& b) {
  struct stat sa {};
  struct stat sb {};
  return ::stat(a.c_str(), &sa) == 0 && ::stat(b.c_str(), &sb) == 0 && sa.st_dev == sb.st_dev &&
         sa.st_ino == sb.st_ino;
}

bool lies_in(const std::string& path, const std::string& folder) {
  return path.size() > folder.size() && path.compare(0, folder.size(), folder) == 0 &&
         path[folder.size()] == '/';
}

// The hidden folder that it lies in or is, or empty. Both sides without links: the operator's
// settings may name the folders by way of one.
std::string hidden_around(const std::string& path, const SandboxSettings& settings) {
  for (const std::string& hidden : settings.hide) {
    std::unique_ptr<char, void (*)(void*)> real(::realpath(hidden.c_str(), nullptr), &std::free);
    for (const std::string& folder : {hidden, std::string(real ? real.get() : "")}) {
      if (!folder.empty() && (path == folder || lies_in(path, folder))) return hidden;
    }
  }
  return {};
}

// A whole disk or home is too much to hand over, and what holds the hides would show them.
Result<void> check_workspace(const std::string& path, const SandboxSettings& settings) {
  if (path == "/") return refused(path, "it is the whole file system");
  if (!settings.home.empty() && is_same_folder(path, settings.home)) {
    return refused(path, "it is your home folder, with all that lies in it");
  }
  if (!settings.home.empty() && lies_in(settings.home, path)) {
    return refused(path, "your home folder lies in it");
  }
  const std::string hidden = hidden_around(path, settings);
  if (!hidden.empty()) {
    return refused(path, "it lies in " + hidden + ", which no sandbox may show");
  }
  return {};
}

// A caller's own HOME, /tmp or mount. Backends mount such a source wherever it lies, because the
// host names it too: another persona's folders must not be within a caller's reach.
Result<void> check_source(json::object& part, const std::string& field,
                          const SandboxSettings& settings) {
  const std::string source(json::get_string(part, "source"));
  std::unique_ptr<char, void (*)(void*)> real(::realpath(source.c_str(), nullptr), &std::free);
  if (source.empty() || source[0] != '/' || !real) {
    return fail(BH_FAILED_PRECONDITION,
                field + ": " + json::quote(source) + " is not the absolute path of what is there",
                "source", {{"field", field}});
  }
  const std::string hidden = hidden_around(real.get(), settings);
  if (!hidden.empty()) {
    return fail(BH_PERMISSION_DENIED,
                field + ": " + json::quote(source) + " lies in " + hidden +
                    ", which no sandbox may show",
                "hidden", {{"field", field}});
  }
  part["source"] = real.get();
  return {};
}

void fill_object(json::object& profile, std::string_view key, const json::object& defaults) {
  json::value& slot = profile[key];
  if (!slot.is_object()) slot = json::object();
  for (const auto& member : defaults) {
    if (!slot.get_object().contains(member.key())) {
      slot.get_object().emplace(member.key(), member.value());
    }
  }
}

}  // namespace

std::string persona_folder(const std::string& persona) { return "personas/" + persona; }
std::string sandbox_folder(const std::string& id) { return "sandboxes/" + id; }

Result<json::object> resolve_profile(const SandboxWish& wish, const SandboxSettings& settings,
                                     const std::string& persona, const DataRoot& root,
                                     const std::string& folders) {
  json::object profile = wish.profile;
  if (!profile.contains("root")) profile["root"] = {{"view", "host"}};

  const json::object* stated = json::get_object(profile, "workspace");
  std::string source = stated != nullptr ? std::string(json::get_string(*stated, "source")) : "";
  if (!wish.workspace.empty()) source = wish.workspace;
  if (source.empty()) source = settings.workspace;
  if (source.empty()) {
    auto own = root.folder(folders + "/workspace");
    if (!own) return tl::unexpected(std::move(own).error());
    source = *own;
  } else {
    auto real = real_folder(source);
    if (!real) return tl::unexpected(std::move(real).error());
    BH_TRY(check_workspace(*real, settings));
    source = *real;
  }
  fill_object(profile, "workspace", {{"path", source}, {"access", "rw"}});
  profile["workspace"].get_object()["source"] = source;

  for (std::string_view own : {"home", "tmp"}) {
    if (profile.contains(own)) {
      BH_TRY(check_source(profile[own].as_object(), "/profile/" + std::string(own) + "/source",
                          settings));
      continue;
    }
    auto folder = root.folder(folders + "/" + std::string(own));
    if (!folder) return tl::unexpected(std::move(folder).error());
    profile[own] = {{"source", *folder}};
  }
  if (profile.contains("mounts")) {
    std::size_t index = 0;
    for (json::value& mount : profile["mounts"].as_array()) {
      BH_TRY(check_source(mount.as_object(),
                          "/profile/mounts/" + std::to_string(index++) + "/source", settings));
    }
  }
  fill_object(profile, "network", {{"mode", settings.network}});
  fill_object(profile, "limits", settings.limits);
  json::array allow;
  for (const std::string& name : settings.env_allow) allow.emplace_back(name);
  fill_object(profile, "env", {{"allow", std::move(allow)}});
  profile["persona"] = persona;
  json::array hide;
  for (const std::string& path : settings.hide) hide.emplace_back(path);
  profile["hide"] = std::move(hide);
  return profile;
}

std::vector<std::string> required_of(const json::object& profile, const std::string& backend) {
  std::vector<std::string> out;
  if (const json::array* list = json::get_array(profile, "required")) {
    for (const json::value& v : *list) {
      if (v.is_string()) out.emplace_back(std::string_view(v.get_string()));
    }
    return out;
  }
  // Who asked for "process" by name and was permitted to has given the walls up knowingly.
  if (backend != "process") out.emplace_back("network.mode");
  return out;
}

}  // namespace bh
