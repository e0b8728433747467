#include "sandbox/profile.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

namespace bh {
namespace {

// It is kept with the sandbox and comes back, in other words, in every report.
constexpr std::size_t kMostProfile = 1u << 20;

// A folder of the host that is to be writable inside, and how to speak of it.
struct Folder {
  std::string path;
  const char* what;
  std::string field;
  std::string remedy;
};

Failure refused(const Folder& folder, const std::string& why,
                bh_status code = BH_PERMISSION_DENIED) {
  return fail(code,
              "the " + std::string(folder.what) + " " + json::quote(folder.path) +
                  " is refused: " + why,
              "workspace_refused",
              {{"field", folder.field}, {"remedy", folder.remedy}});
}

// Where the links on the way lead; of what is not there, as far as it is.
std::string settled(const std::string& path) {
  std::string head = path;
  std::string tail;
  while (!head.empty() && head != "/") {
    std::unique_ptr<char, void (*)(void*)> real(::realpath(head.c_str(), nullptr), &std::free);
    if (real) return std::string(real.get() == std::string_view("/") ? "" : real.get()) + tail;
    std::size_t slash = head.rfind('/');
    if (slash == std::string::npos) break;
    tail = head.substr(slash) + tail;
    head = head.substr(0, slash);
  }
  return tail.empty() ? "/" : tail;
}

bool is_same(const std::string& a, const struct stat& sb) {
  struct stat sa {};
  return ::stat(a.c_str(), &sa) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

bool lies_in(const std::string& path, const std::string& folder) {
  return path.size() > folder.size() && path.compare(0, folder.size(), folder) == 0 &&
         path[folder.size()] == '/';
}

// By what is there, not by its name: a link or a second mount gives one folder several.
bool is_or_lies_in(const std::string& path, const std::string& folder) {
  struct stat st {};
  if (::stat(folder.c_str(), &st) != 0) return false;
  for (std::string at = path; !at.empty(); at.resize(at.rfind('/'))) {
    if (is_same(at, st)) return true;
  }
  return false;
}

// The hidden folder that it lies in or is, or empty.
std::string hidden_around(const std::string& path, const SandboxSettings& settings) {
  for (const std::string& hidden : settings.hide) {
    if (is_or_lies_in(path, hidden)) return hidden;
  }
  return {};
}

Result<Folder> real_folder(Folder folder) {
  const bool workspace = folder.what == std::string_view("workspace");
  const bh_status code = workspace ? BH_PERMISSION_DENIED : BH_FAILED_PRECONDITION;
  if (folder.path.empty() || folder.path[0] != '/') {
    return refused(folder, "it is not an absolute path", code);
  }
  std::unique_ptr<char, void (*)(void*)> real(::realpath(folder.path.c_str(), nullptr), &std::free);
  if (!real) {
    return refused(folder, errno == ENOENT ? "it is not there" : "it cannot be reached", code);
  }
  struct stat st {};
  if (::stat(real.get(), &st) != 0 || !S_ISDIR(st.st_mode)) {
    return refused(folder, "it is not a folder", code);
  }
  folder.path = real.get();
  return folder;
}

// A place of ours that is not there yet cannot be covered: a command would make it, and we would
// read it the next time.
Result<void> check_holds_nothing_of_ours(const Folder& folder, const SandboxSettings& settings) {
  struct stat st {};
  for (const std::string& own : settings.own) {
    if (::stat(own.c_str(), &st) == 0) continue;
    const std::string place = settled(own);
    if (place == folder.path || lies_in(place, folder.path)) {
      Folder other = folder;
      other.remedy = "make " + own + ", so that it can be hidden inside, or name another folder";
      return refused(other, "Bulkhead reads " + own +
                                ", which is not there yet, and a command could make it");
    }
  }
  return {};
}

// A whole disk or home is too much to hand over, and so is what programs of other users share.
Result<void> check_folder(const Folder& folder, const SandboxSettings& settings) {
  const std::string& path = folder.path;
  struct stat st {};
  if (path == "/") return refused(folder, "it is the whole file system");
  if (::stat(path.c_str(), &st) != 0) return refused(folder, "it cannot be reached");
  if (!settings.home.empty() && is_same(settings.home, st)) {
    return refused(folder, "it is your home folder, with all that lies in it");
  }
  if (!settings.home.empty() && lies_in(settled(settings.home), path)) {
    return refused(folder, "your home folder lies in it");
  }
  if ((st.st_mode & S_ISVTX) != 0 && (st.st_mode & S_IWOTH) != 0) {
    return refused(folder, "all users of this machine share it, with the sockets of their programs");
  }
  const std::string hidden = hidden_around(path, settings);
  if (!hidden.empty()) {
    return refused(folder, "it lies in " + hidden + ", which no sandbox may show");
  }
  return check_holds_nothing_of_ours(folder, settings);
}

// Checks what a caller named, in whatever words, and puts the real path in its place.
Result<std::string> settle(Folder folder, const SandboxSettings& settings) {
  auto real = real_folder(std::move(folder));
  if (!real) return tl::unexpected(std::move(real).error());
  BH_TRY(check_folder(*real, settings));
  return std::move(real->path);
}

// A caller's own mount. Backends mount such a source wherever it lies, because the host names it
// too: another persona's folders must not be within a caller's reach.
Result<void> check_mount(json::object& mount, const std::string& field,
                         const SandboxSettings& settings) {
  const std::string source(json::get_string(mount, "source"));
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
  mount["source"] = real.get();
  if (json::get_string(mount, "access") != "rw") return {};
  return check_holds_nothing_of_ours({real.get(), "mount", field, {}}, settings);
}

Result<void> check_mounts_and_rules(json::object& profile, const SandboxSettings& settings) {
  std::size_t index = 0;
  if (profile.contains("mounts")) {
    for (json::value& mount : profile["mounts"].as_array()) {
      BH_TRY(check_mount(mount.as_object(),
                         "/profile/mounts/" + std::to_string(index++) + "/source", settings));
    }
  }
  index = 0;
  if (profile.contains("files")) {
    for (json::value& rule : profile["files"].as_array()) {
      const std::string field = "/profile/files/" + std::to_string(index++) + "/path";
      const json::object& o = rule.as_object();
      if (json::get_string(o, "access") != "rw") continue;
      const std::string path = settled(std::string(json::get_string(o, "path")));
      BH_TRY(check_holds_nothing_of_ours({path, "path", field, {}}, settings));
    }
  }
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
  if (const std::size_t size = json::print(profile).size(); size > kMostProfile) {
    return fail(BH_RESOURCE_EXHAUSTED,
                "the profile is " + std::to_string(size) + " bytes long; at most " +
                    std::to_string(kMostProfile) + " are taken",
                "too_large", {{"field", "/profile"}, {"limit", std::to_string(kMostProfile)}});
  }
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
    auto real = settle({source, "workspace", "/workspace",
                        "name a project folder, with --workspace or \"workspace\""},
                       settings);
    if (!real) return tl::unexpected(std::move(real).error());
    source = *real;
  }
  fill_object(profile, "workspace", {{"path", source}, {"access", "rw"}});
  profile["workspace"].get_object()["source"] = source;

  for (const char* own : {"home", "tmp"}) {
    if (profile.contains(own)) {
      json::value& named = profile[own];
      if (!named.is_object()) named = json::object();
      auto real = settle({std::string(json::get_string(named.get_object(), "source")), own,
                          std::string("/profile/") + own + "/source",
                          "name another folder, or leave it out"},
                         settings);
      if (!real) return tl::unexpected(std::move(real).error());
      named.get_object()["source"] = *real;
      continue;
    }
    auto folder = root.folder(folders + "/" + own);
    if (!folder) return tl::unexpected(std::move(folder).error());
    profile[own] = {{"source", *folder}};
  }
  BH_TRY(check_mounts_and_rules(profile, settings));
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
  // Another root than the one that was named is another machine, whatever the caller says of it.
  if (const json::object* root = json::get_object(profile, "root")) {
    for (const char* rule : {"image", "snapshot"}) {
      if (root->contains(rule)) out.push_back(std::string("root.") + rule);
    }
  }
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
