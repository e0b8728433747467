#include "sandbox/images.h"

#include <set>

namespace bh {
namespace {

Failure unknown(ImageStore& store, const SandboxSettings& settings, const Session& session,
                const std::string& name, const char* field) {
  std::set<std::string> names;
  for (const auto& [other, what] : settings.images) names.insert(other);
  if (auto all = store.list(session)) {
    for (const NamedImage& image : *all) names.insert(image.name);
  }
  std::string known;
  for (const std::string& other : names) known += (known.empty() ? "" : ", ") + other;
  if (known.empty()) known = "none";
  return fail(BH_NOT_FOUND, "there is no image " + json::quote(name) + "; known are: " + known,
              "image_unknown",
              {{"field", field},
               {"image", name},
               {"known", known},
               {"remedy", "take one of those, or import it: bulkhead image import"}});
}

// Whether an error of the store says no more than that it is not there.
bool is_unknown(const Error& error) {
  return error.code == BH_NOT_FOUND && error.details.find("\"image_unknown\"") != std::string::npos;
}

}  // namespace

Result<WishedRoot> find_root(ImageStore& store, const SandboxSettings& settings,
                             const Session& session, const SandboxWish& wish) {
  WishedRoot out;
  out.name = wish.image;
  const char* field = "/image";
  const json::object* root = json::get_object(wish.profile, "root");
  if (!out.name.empty() && root != nullptr) {
    return fail(BH_INVALID_ARGUMENT, "image and profile.root both say what it starts from; give one",
                "contradiction", {{"field", "/image"}});
  }
  if (root != nullptr && root->contains("image")) {
    field = "/profile/root/image";
    out.name = json::get_string(*root, "image");
    if (root->size() > 1) {
      return fail(BH_INVALID_ARGUMENT, "profile.root says several things that it starts from; give one",
                  "contradiction", {{"field", "/profile/root"}});
    }
    if (out.name.empty()) return unknown(store, settings, session, out.name, field);
  }
  if (out.name.empty()) return out;
  auto found = store.find(session, out.name);
  if (!found && !is_unknown(found.error())) return tl::unexpected(std::move(found).error());
  if (!found) {
    auto configured = settings.images.find(out.name);
    if (configured == settings.images.end()) {
      return unknown(store, settings, session, out.name, field);
    }
    if (!configured->second.contains("image")) return out;
    // Whatever the operator shares under that name, whoever asks.
    found = store.find(Session{{}, true, {}, false},
                       std::string(json::get_string(configured->second, "image")));
    if (!found && !is_unknown(found.error())) return tl::unexpected(std::move(found).error());
    if (!found) return unknown(store, settings, session, out.name, field);
  }
  out.digest = found->digest;
  out.folder = store.root_of(found->digest);
  out.config = std::move(found->config);
  return out;
}

void apply_root(SandboxWish& wish, const WishedRoot& root) {
  if (root.name.empty()) return;
  if (root.digest.empty()) {
    wish.profile["root"] = {{"view", "host"}};
    return;
  }
  wish.profile["root"] = {{"image", root.folder}};
  const json::array* variables = json::get_array(root.config, "Env");
  if (variables == nullptr || variables->empty()) return;
  json::value& env = wish.profile["env"];
  if (!env.is_object()) env = json::object();
  json::value& set = env.get_object()["set"];
  if (!set.is_object()) set = json::object();
  for (const json::value& v : *variables) {
    if (!v.is_string()) continue;
    const std::string_view text(v.get_string());
    const std::size_t equals = text.find('=');
    // HOME is the sandbox's own.
    if (equals == text.npos || equals == 0 || text.substr(0, equals) == "HOME") continue;
    const std::string_view name = text.substr(0, equals);
    if (!set.get_object().contains(name)) set.get_object()[name] = json::string(text.substr(equals + 1));
  }
}

Result<void> check_image_backend(const Provider& provider, const WishedRoot& root) {
  if (root.digest.empty()) return {};
  if (const json::array* roots = json::get_array(provider.capabilities, "root")) {
    for (const json::value& v : *roots) {
      if (v.is_string() && v.get_string() == "image") return {};
    }
  }
  return fail(BH_UNIMPLEMENTED,
              "the backend " + provider.id + " cannot start from an image, as " + json::quote(root.name) +
                  " is one",
              "image_unsupported",
              {{"backend", provider.id},
               {"image", root.name},
               {"remedy", "choose a backend whose capabilities list the root \"image\" (plugin.list "
                          "shows them), or leave the image out"}});
}

void report_image(json::object& report, const std::string& name) {
  if (name.empty()) return;
  json::array& rules = report["rules"].is_array() ? report["rules"].get_array()
                                                  : report["rules"].emplace_array();
  rules.push_back({{"rule", "image"},
                   {"status", "partial"},
                   {"reason", "the host's own system stands in for the image " + name}});
}

}  // namespace bh
