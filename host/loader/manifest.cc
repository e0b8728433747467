#include "loader/manifest.h"

#include <bulkhead/plugin.h>

#include <algorithm>
#include <initializer_list>
#include <set>

#include "base/json.h"
#include "loader/names.h"

namespace bh {
namespace {

constexpr size_t kProvidesLimit = 256;
constexpr size_t kPlatformsLimit = 32;

// What an operator does about a manifest: it is the author's file, and he corrects it only where he
// knows better.
std::string correct(std::string_view where) {
  return "correct " + std::string(where) +
         " in plugin.json, or install the plugin again as its author gives it out";
}

tl::unexpected<Finding> wrong(std::string_view where, std::string_view what, std::string hint) {
  return refuse(LoadStage::manifest, "plugin.json: " + std::string(where) + " " + std::string(what),
                std::move(hint));
}

// One object of the manifest, read key by key. The first complaint is kept and all later reads
// answer with empty values, so that the caller reads on in a straight line.
class Reader {
 public:
  Reader(const boost::json::object& object, std::string where, Checked<void>& state)
      : object_(object), where_(std::move(where)), state_(state) {}

  std::string text(std::string_view key, bool (*fits)(std::string_view), std::string_view form) {
    const auto* value = need(key);
    if (value == nullptr) return {};
    if (!value->is_string() || !fits(std::string_view(value->get_string()))) {
      complain(key, "must be " + std::string(form), correct(where_ + "/" + std::string(key)));
      return {};
    }
    return std::string(value->get_string());
  }

  int64_t number(std::string_view key, int64_t least, int64_t most) {
    const auto* value = need(key);
    if (value == nullptr) return 0;
    if (!value->is_int64() || value->get_int64() < least || value->get_int64() > most) {
      complain(key, "must be a whole number from " + std::to_string(least) + " to " +
                        std::to_string(most),
               key == "manifest_version" ? "use a host that is new enough for this manifest, or a version of the plugin that was made for this host"
                                         : correct(where_ + "/" + std::string(key)));
      return 0;
    }
    return value->get_int64();
  }

  const boost::json::object* object(std::string_view key) {
    const auto* value = need(key);
    if (value == nullptr) return nullptr;
    if (!value->is_object()) {
      complain(key, "must be an object", correct(where_ + "/" + std::string(key)));
      return nullptr;
    }
    return &value->get_object();
  }

  const boost::json::array* array(std::string_view key, size_t most) {
    const auto* value = need(key);
    if (value == nullptr) return nullptr;
    if (!value->is_array() || value->get_array().empty() || value->get_array().size() > most) {
      complain(key, "must be a list of 1 to " + std::to_string(most) + " entries",
               correct(where_ + "/" + std::string(key)));
      return nullptr;
    }
    return &value->get_array();
  }

  bool has(std::string_view key) const { return object_.contains(key); }

  // After all known keys have been asked for.
  void nothing_else() {
    for (const auto& member : object_) {
      if (seen_.count(std::string(member.key())) != 0) continue;
      complain(member.key(), "is not a key that this host knows",
               "remove it, or use a host that is new enough to know it");
      return;
    }
  }

  void complain(std::string_view key, std::string what, std::string hint) {
    if (!state_) return;
    state_ = wrong(where_ + "/" + std::string(key), what, std::move(hint));
  }

 private:
  const boost::json::value* need(std::string_view key) {
    seen_.insert(std::string(key));
    const auto* value = object_.if_contains(key);
    if (value == nullptr) {
      complain(key, "is missing",
               "add it to plugin.json, or install the plugin again as its author gives it out");
    }
    return value;
  }

  const boost::json::object& object_;
  std::string where_;
  Checked<void>& state_;
  std::set<std::string> seen_;
};

bool any_text(std::string_view text) { return is_line(text); }

bool is_version(std::string_view text) {
  return is_line(text) && text.size() <= 64 && text.find(' ') == std::string_view::npos;
}

bool is_library(std::string_view text) {
  if (text.substr(0, 2) == "./") text.remove_prefix(2);
  return is_relative_file(text);
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

constexpr std::string_view kLineForm = "text of 1 to 256 bytes without control characters";

std::map<std::string, std::string> by_platform(const boost::json::object& object,
                                               const std::string& where, Checked<void>& state,
                                               bool (*fits)(std::string_view),
                                               std::string_view form) {
  std::map<std::string, std::string> map;
  Reader read(object, where, state);
  if (object.empty() || object.size() > kPlatformsLimit) {
    state = wrong(where, "must name 1 to " + std::to_string(kPlatformsLimit) + " platforms",
                  "write {\"" + std::string(own_platform()) + "\": ...}, one key for each platform");
    return map;
  }
  for (const auto& member : object) {
    const std::string platform(member.key());
    if (!is_platform(platform)) {
      read.complain(platform, "is not a platform such as linux-x86_64",
                    "write this machine's as \"" + std::string(own_platform()) + "\"");
      return map;
    }
    map[platform] = read.text(platform, fits, form);
  }
  return map;
}

DeclaredProvider read_provider(const boost::json::value& value, const std::string& where,
                               Checked<void>& state) {
  DeclaredProvider provider;
  if (!value.is_object()) {
    if (state) state = wrong(where, "must be an object", correct(where));
    return provider;
  }
  Reader read(value.get_object(), where, state);
  provider.interface =
      read.text("interface", is_interface_id, "an interface such as \"bh.isolation/1\"");
  provider.id = read.text("id", is_provider_id, "[a-z0-9][a-z0-9_-]*, 63 characters at most");
  provider.title = provider.id;
  if (read.has("title")) provider.title = read.text("title", any_text, kLineForm);
  if (read.has("capabilities")) {
    const auto* capabilities = read.object("capabilities");
    if (capabilities != nullptr) provider.capabilities = *capabilities;
  }
  read.nothing_else();
  return provider;
}

void read_provides(const boost::json::array& list, Manifest& manifest, Checked<void>& state) {
  std::set<std::pair<std::string, std::string>> names;
  for (size_t i = 0; i < list.size() && state; ++i) {
    const std::string where = "/provides/" + std::to_string(i);
    DeclaredProvider provider = read_provider(list[i], where, state);
    if (state && !names.insert({provider.interface, provider.id}).second) {
      state =
          wrong(where, "offers " + provider.interface + " \"" + provider.id + "\" a second time",
                "remove one of the two entries from plugin.json");
    }
    manifest.provides.push_back(std::move(provider));
  }
}

}  // namespace

Checked<Manifest> parse_manifest(std::string_view text) {
  if (text.size() > kManifestLimit) {
    return refuse(LoadStage::manifest, "plugin.json is larger than 256 KiB",
                  ask_author("ship a manifest without what does not belong in it"));
  }
  auto json = json::parse(text);
  if (!json) {
    return refuse(LoadStage::manifest, "plugin.json: " + json.error().message,
                  "correct plugin.json at that place, or install the plugin again: its copy may be "
                  "damaged");
  }
  if (!json->is_object()) {
    return refuse(LoadStage::manifest, "plugin.json: must be an object",
                  "install the plugin again: what lies there is no manifest");
  }

  Checked<void> state;
  Manifest manifest;
  Reader read(json->get_object(), "", state);
  // First of all, since a later version may mean other things by all other keys.
  if (read.number("manifest_version", 1, 1) != 1) return tl::make_unexpected(state.error());
  manifest.id = read.text("id", is_plugin_id,
                          "a name in reverse DNS form such as \"org.example.echo\" "
                          "([a-z0-9_-] and dots, 128 characters at most)");
  manifest.name = read.text("name", any_text, kLineForm);
  manifest.version = read.text("version", is_version, "1 to 64 characters without blanks");
  manifest.vendor = read.text("vendor", any_text, kLineForm);
  manifest.license = read.text("license", any_text, kLineForm);
  if (const auto* abi = read.object("abi")) {
    Reader inner(*abi, "/abi", state);
    manifest.abi_major = inner.number("major", 0, 1000);
    manifest.abi_min_minor = inner.number("min_minor", 0, 100000);
    inner.nothing_else();
  }
  if (const auto* list = read.array("provides", kProvidesLimit)) {
    read_provides(*list, manifest, state);
  }
  if (const auto* library = read.object("library")) {
    manifest.library =
        by_platform(*library, "/library", state, is_library,
                    "a path below the manifest's folder, without \"..\" and not absolute");
    for (auto& [platform, path] : manifest.library) {
      if (path.rfind("./", 0) == 0) path.erase(0, 2);
    }
  }
  if (read.has("sha256")) {
    if (const auto* sha256 = read.object("sha256")) {
      manifest.sha256 =
          by_platform(*sha256, "/sha256", state, is_sha256, "64 lower-case hexadecimal digits");
    }
  }
  read.nothing_else();
  if (!state) return tl::make_unexpected(state.error());
  return manifest;
}

Checked<void> suits_host(const Manifest& manifest) {
  if (manifest.abi_major != BH_ABI_MAJOR) {
    return refuse(LoadStage::abi,
                  "built for plugin ABI " + std::to_string(manifest.abi_major) +
                      "; this host speaks " + std::to_string(BH_ABI_MAJOR),
                  "install the version of the plugin that was made for this host");
  }
  if (manifest.abi_min_minor > BH_ABI_MINOR) {
    return refuse(LoadStage::abi,
                  "needs a host of plugin ABI " + std::to_string(BH_ABI_MAJOR) + "." +
                      std::to_string(manifest.abi_min_minor) + "; this one has " +
                      std::to_string(BH_ABI_MAJOR) + "." + std::to_string(BH_ABI_MINOR),
                  "use a newer host, or an older version of the plugin");
  }
  if (manifest.library.count(std::string(own_platform())) == 0) {
    std::string others;
    for (const auto& [platform, path] : manifest.library) {
      others += (others.empty() ? "" : ", ") + platform;
    }
    return refuse(LoadStage::manifest,
                  "has no library for " + std::string(own_platform()) + ", only for " + others,
                  "install the plugin's build for " + std::string(own_platform()) +
                      ", or ask its author for one");
  }
  return {};
}

}  // namespace bh
