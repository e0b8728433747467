#include "loader/check.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>

#include "base/json.h"
#include "loader/driver_schema.h"
#include "loader/names.h"
#include "loader/unwind.h"

namespace bh {
namespace {

constexpr uint32_t kProvidersLimit = 256;
constexpr std::array<const char*, 4> kKinds = {BH_ISOLATION, BH_TOOLSET, BH_BROWSER, BH_FILESTORE};

// Runs a function of the plugin; an exception that gets out becomes a finding.
template <class Function>
Checked<std::invoke_result_t<Function>> guarded(LoadStage stage, const char* what,
                                                Function&& function) {
  prepare_unwinder();
  std::string text = "something that is no std::exception";
  try {
    return function();
  } catch (const std::exception& error) {
    // what() is the plugin's code; its text is copied while the exception lives.
    text = std::string("\"") + error.what() + "\"";
  } catch (...) {
  }
  return broken(stage, std::string(what) + " threw " + text,
                ask_author("catch every exception at the plugin's border"));
}

// A plugin that says why may say what helps as well.
std::string hint_of(const Error& error) {
  if (const auto details = json::parse_object(error.details)) {
    std::string remedy(json::get_string(*details, "remedy"));
    if (!remedy.empty()) return remedy;
  }
  return "the plugin gives this reason itself: mend what it names and start the host again, or ask "
         "its author";
}

Checked<const bh_plugin*> call_entry(PluginEntry entry, const std::string& id,
                                     PluginCaller& caller) {
  auto entered = guarded(LoadStage::entry, "its entry", [&] { return caller.enter(entry, id); });
  if (!entered) return tl::make_unexpected(entered.error());
  const std::string say_why =
      ask_author("return NULL only after call->api->fail() with a sentence, which is missing here");
  if (!*entered) {
    const Error& error = entered->error();
    if (error.message.empty()) {
      return broken(LoadStage::entry,
                    "its entry failed with code " + std::to_string(error.code) + " and no text",
                    say_why);
    }
    return broken(LoadStage::entry, "its entry failed: " + error.message, hint_of(error));
  }
  if (**entered == nullptr) {
    return broken(LoadStage::entry, "its entry returned NULL without a reason", say_why);
  }
  return **entered;
}

Checked<void> check_texts(const bh_plugin& table) {
  const std::array<std::pair<const char*, const char*>, 5> texts = {{{"id", table.id},
                                                                     {"name", table.name},
                                                                     {"version", table.version},
                                                                     {"vendor", table.vendor},
                                                                     {"license", table.license}}};
  for (const auto& [name, text] : texts) {
    if (text == nullptr) {
      return refuse(LoadStage::interface, std::string("bh_plugin.") + name + " is NULL",
                    ask_author(std::string("set bh_plugin.") + name));
    }
    if (!is_text(text, 256) || !is_line(text)) {
      return refuse(LoadStage::interface,
                    std::string("bh_plugin.") + name + " is not one line of UTF-8 text",
                    ask_author("write it so, in 256 bytes at most"));
    }
  }
  if (!is_plugin_id(table.id)) {
    return refuse(LoadStage::interface, "bh_plugin.id \"" + std::string(table.id) +
                                            "\" is not of the form \"org.example.echo\"",
                  ask_author("give it a name in reverse DNS form, the same as in plugin.json"));
  }
  return {};
}

Checked<bh_plugin> check_table(const bh_plugin* raw) {
  if (raw->struct_size < offsetof(bh_plugin, shutdown) + sizeof raw->shutdown) {
    return refuse(LoadStage::interface,
                  "bh_plugin is too short: " + std::to_string(raw->struct_size) +
                      " bytes end before shutdown",
                  ask_author("set struct_size to sizeof of the struct"));
  }
  const bh_plugin table = copy_table(raw);
  if (table.get_interface == nullptr) {
    return refuse(LoadStage::interface, "bh_plugin.get_interface is NULL, but required",
                  ask_author("set it: without it the plugin offers nothing"));
  }
  if (auto ok = check_texts(table); !ok) return tl::make_unexpected(ok.error());
  return table;
}

Checked<void> disagree(const std::string& what, const std::string& manifest,
                       const std::string& binary) {
  return refuse(LoadStage::interface,
                "manifest and binary disagree: " + what + " is " + manifest + " in plugin.json, " +
                    binary + " in the library",
                "build and install both together");
}

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

Checked<void> check_schemas(const Provider& provider, const SchemaCheck& check_schema) {
  std::vector<std::pair<const char*, std::string_view>> schemas;
  schemas.emplace_back("config_schema", provider.config_schema);
  if (provider.interface == BH_ISOLATION) {
    schemas.emplace_back("profile_schema", provider.isolation().profile_schema);
    schemas.emplace_back("exec_schema", provider.isolation().exec_schema);
  } else if (provider.interface == BH_BROWSER) {
    schemas.emplace_back("session_schema", provider.browser().session_schema);
  }
  for (const auto& [name, text] : schemas) {
    const std::string where =
        provider.interface + " " + quoted(provider.id) + ": " + std::string(name);
    if (text.size() > (1u << 20)) return refuse(LoadStage::schema, where + " is above 1 MiB",
                                              ask_author("shorten the schema"));
    const auto object = json::parse_object(text);
    if (!object) {
      return refuse(LoadStage::schema, where + ": " + object.error().message,
                    ask_author("write " + std::string(name) +
                               R"( as a JSON object; {"type":"object"} is the shortest)"));
    }
    const std::string hint =
        ask_author("use only the keywords that the host enforces (abi/README.md)");
    if (auto ok = check_driver_schema(*object); !ok) {
      return refuse(LoadStage::schema, where + ": " + ok.error().message, hint);
    }
    if (!check_schema) continue;
    if (auto ok = check_schema(text); !ok) {
      return refuse(LoadStage::schema, where + ": " + ok.error().message, hint);
    }
  }
  return {};
}

class Check {
 public:
  Check(const bh_plugin& table, const Manifest* manifest, const SchemaCheck& check_schema)
      : manifest_(manifest), check_schema_(check_schema) {
    plugin_.table = table;
  }

  Checked<EnteredPlugin> run() {
    if (auto ok = check_identity(); !ok) return tl::make_unexpected(ok.error());
    for (const char* kind : kKinds) {
      if (auto ok = read_kind(kind); !ok) return tl::make_unexpected(ok.error());
    }
    if (auto ok = check_declared(); !ok) return tl::make_unexpected(ok.error());
    for (const auto& provider : plugin_.providers) {
      if (auto ok = check_schemas(*provider, check_schema_); !ok) {
        return tl::make_unexpected(ok.error());
      }
    }
    return std::move(plugin_);
  }

 private:
  Checked<void> check_identity() const {
    if (manifest_ == nullptr) return {};
    if (manifest_->id != plugin_.table.id) {
      return disagree("id", quoted(manifest_->id), quoted(plugin_.table.id));
    }
    if (manifest_->version != plugin_.table.version) {
      return disagree("version", quoted(manifest_->version), quoted(plugin_.table.version));
    }
    return {};
  }

  Checked<const void*> ask(const char* interface) const {
    return guarded(LoadStage::interface, "get_interface",
                   [&] { return plugin_.table.get_interface(interface); });
  }

  Checked<void> read_kind(const char* kind) {
    auto answer = ask(kind);
    if (!answer) return tl::make_unexpected(answer.error());
    if (*answer == nullptr) return {};
    const auto* list = static_cast<const bh_provider_list*>(*answer);
    if (list->struct_size < sizeof(bh_provider_list)) {
      return refuse(LoadStage::interface,
                    std::string(kind) + ": its bh_provider_list is too short: " +
                        std::to_string(list->struct_size) + " bytes",
                    ask_author("set struct_size to sizeof of the struct"));
    }
    if (list->count > kProvidersLimit || (list->count > 0 && list->items == nullptr)) {
      return refuse(LoadStage::interface, std::string(kind) + ": its list of " +
                                              std::to_string(list->count) +
                                              " providers is too long or has no items",
                    ask_author("list 1 to " + std::to_string(kProvidersLimit) + " providers, with their items"));
    }
    for (uint32_t i = 0; i < list->count; ++i) {
      auto provider =
          copy_provider(list->items[i], kind, std::string(kind) + " provider " + std::to_string(i));
      if (!provider) return tl::make_unexpected(provider.error());
      if (find(kind, provider->id) != nullptr) {
        return refuse(LoadStage::interface,
                      std::string(kind) + " " + quoted(provider->id) + " is offered twice",
                      ask_author("give each provider an id of its own"));
      }
      provider->plugin = plugin_.table.id;
      plugin_.providers.push_back(std::make_unique<Provider>(std::move(*provider)));
    }
    return {};
  }

  const Provider* find(std::string_view interface, std::string_view id) const {
    for (const auto& provider : plugin_.providers) {
      if (provider->interface == interface && provider->id == id) return provider.get();
    }
    return nullptr;
  }

  Checked<void> check_declared() {
    if (manifest_ == nullptr) return {};
    for (const DeclaredProvider& declared : manifest_->provides) {
      const std::string name = declared.interface + " " + quoted(declared.id);
      if (!is_known_kind(declared.interface)) {
        auto answer = ask(declared.interface.c_str());
        if (!answer) return tl::make_unexpected(answer.error());
        if (*answer == nullptr) return disagree(name, "offered", "absent");
        continue;
      }
      const Provider* provider = find(declared.interface, declared.id);
      if (provider == nullptr) return disagree(name, "offered", "absent");
      if (!declared.capabilities.empty() && declared.capabilities != provider->capabilities) {
        plugin_.remarks.push_back("capabilities of " + name +
                                  " are other ones in plugin.json than in the library");
      }
    }
    for (const auto& provider : plugin_.providers) {
      const auto& declared = manifest_->provides;
      const bool listed = std::any_of(declared.begin(), declared.end(), [&](const auto& each) {
        return each.interface == provider->interface && each.id == provider->id;
      });
      if (!listed) {
        return disagree(provider->interface + " " + quoted(provider->id), "absent", "offered");
      }
    }
    return {};
  }

  const Manifest* manifest_;
  const SchemaCheck& check_schema_;
  EnteredPlugin plugin_;
};

}  // namespace

Checked<EnteredPlugin> enter_plugin(PluginEntry entry, const std::string& id,
                                    const Manifest* manifest, PluginCaller& caller,
                                    const SchemaCheck& check_schema) {
  auto raw = call_entry(entry, id, caller);
  if (!raw) return tl::make_unexpected(raw.error());
  auto table = check_table(*raw);
  if (!table) return tl::make_unexpected(table.error());
  auto plugin = Check(*table, manifest, check_schema).run();
  if (!plugin) shut_down(*table, caller.host(id));
  return plugin;
}

void shut_down(const bh_plugin& table, const bh_host* host) noexcept {
  if (table.shutdown == nullptr) return;
  // Without an allocation: memory may be what has run out, and nothing may leave this function.
  const auto complain = [host](const char* before, const char* text, const char* after) noexcept {
    char line[400];
    std::snprintf(line, sizeof line, "%s%.200s%s", before, text, after);
    host->api->log(host, nullptr, BH_LOG_PLUGIN_MISUSE, line, std::strlen(line), nullptr, 0);
  };
  try {
    table.shutdown(host);
    return;
  } catch (const std::exception& error) {
    complain("threw \"", error.what(), "\" in shutdown(); ask its author to catch it there");
  } catch (...) {
    complain("threw something that is no std::exception in shutdown(); ask its author to catch it there", "", "");
  }
}

}  // namespace bh
