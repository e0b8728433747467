// What can be read without running anything: texts, schemas, capabilities, manifest, tables.
#include <cstring>

#include "../core/backend.h"
#include "../core/suite.h"

namespace bulkhead::sdk::contract {

namespace {

void one_line(Try& t, const char* what, const char* text) {
  const std::string_view v = text != nullptr ? text : "";
  t.expect(!v.empty(), std::string(what) + " is empty");
  t.expect(v.size() <= 256 && v.find('\n') == std::string_view::npos,
           std::string(what) + " is more than one line of 256 bytes");
  t.expect(is_utf8(v), std::string(what) + " is not UTF-8");
}

void texts(Try& t) {
  const Plugin& p = t.backend.plugin();
  one_line(t, "the plugin's id", p.descriptor->id);
  one_line(t, "its name", p.descriptor->name);
  one_line(t, "its version", p.descriptor->version);
  one_line(t, "its vendor", p.descriptor->vendor);
  one_line(t, "its license", p.descriptor->license);
  one_line(t, "the provider's id", p.provider->id);
  one_line(t, "the provider's title", p.provider->title);
}

void schemas(Try& t) {
  const Plugin& p = t.backend.plugin();
  const Schema config(p.provider->config_schema != nullptr ? p.provider->config_schema : "");
  for (const auto& [name, schema] : {std::pair("config_schema", &config),
                                     {"profile_schema", &p.profile},
                                     {"exec_schema", &p.exec}}) {
    t.expect(schema->valid(), std::string(name) + " is not a JSON object");
    t.expect(!schema->open(), std::string(name) +
                                  " takes any key, so that nothing could be refused: set "
                                  "additionalProperties to false");
  }
  // Keys that no profile has would never be sent. Those of abi/schemas/isolation_profile.json, which
  // tests/contract/keys.py compares.
  static const char* const kKeys[] = {"root",         "workspace", "home",    "tmp",       "files",
                                      "mounts",       "network",   "limits",  "env",       "user",
                                      "processes",    "persona",   "hide",    "required",
                                      "capabilities"};
  for (const auto& key : p.profile.keys()) {
    bool known = false;
    for (const char* one : kKeys) known = known || key == one;
    t.expect(known, "profile_schema lists \"" + key + "\", which no profile has");
  }
}

void capabilities(Try& t) {
  const Plugin& p = t.backend.plugin();
  auto parsed =
      json::parse_object(p.provider->capabilities != nullptr ? p.provider->capabilities : "");
  t.require(parsed.ok(), "the capabilities are not a JSON object");
  auto words = [&](const char* key, std::initializer_list<const char*> known) {
    const auto* list = json::list(*parsed, key);
    for (const auto& one : list != nullptr ? *list : json::array()) {
      bool good = false;
      for (const char* word : known) {
        good = good || (one.is_string() && json::view(one.get_string()) == word);
      }
      t.expect(good, std::string(key) + " has " + json::print(one));
    }
  };
  words("network", {"off", "limited", "allowed_hosts", "unrestricted"});
  words("files", {"rw", "ro", "hide"});
  words("limits",
        {"cpu", "memory_bytes", "pids", "disk_bytes", "wall_ms", "output_bytes", "open_files"});
  words("root", {"host", "image", "snapshot"});
  words("denials", {"audit", "notification", "guess"});
  const std::string_view strength = json::text(*parsed, "strength");
  t.expect(strength.empty() || strength == "none" || strength == "process" ||
               strength == "namespaces" || strength == "kernel" || strength == "machine",
           "strength is \"" + std::string(strength) + "\"");
  const auto* extensions = json::list(*parsed, "extensions");
  for (const auto& one : extensions != nullptr ? *extensions : json::array()) {
    const std::string id(one.is_string() ? json::view(one.get_string()) : "");
    t.expect(p.table.get_extension != nullptr && p.table.get_extension(id.c_str()) != nullptr,
             "the extension " + id + " is promised and get_extension() does not give it");
  }
  t.expect(p.table.get_extension == nullptr ||
               p.table.get_extension("org.example.nobody-has-this/1") == nullptr,
           "get_extension() gives a table for what it cannot know");
}

void manifest(Try& t) {
  const Plugin& p = t.backend.plugin();
  if (p.manifest.empty()) Try::skip("no plugin.json lies beside the library");
  t.equal("the manifest's id", std::string(json::text(p.manifest, "id")),
          std::string(p.descriptor->id));
  t.equal("the manifest's version", std::string(json::text(p.manifest, "version")),
          std::string(p.descriptor->version));
  bool found = false;
  const auto* provides = json::list(p.manifest, "provides");
  for (const auto& one : provides != nullptr ? *provides : json::array()) {
    if (!one.is_object() || json::text(one.get_object(), "interface") != BH_ISOLATION ||
        json::text(one.get_object(), "id") != p.provider->id) {
      continue;
    }
    found = true;
    const auto* there = json::child(one.get_object(), "capabilities");
    t.expect(there == nullptr || *there == p.capabilities,
             "the capabilities in the manifest are not those of the table");
  }
  t.expect(found, "the manifest does not list the provider " + std::string(p.provider->id));
}

void tables(Try& t) {
  const Plugin& p = t.backend.plugin();
  const void* again = p.descriptor->get_interface(BH_ISOLATION);
  t.expect(again == p.descriptor->get_interface(BH_ISOLATION),
           "get_interface() changes its answer");
  t.expect(p.descriptor->get_interface("org.example.nobody-has-this/1") == nullptr,
           "get_interface() gives a table for a kind that it cannot know");
  t.expect(p.descriptor->get_interface("bh.isolation/999") == nullptr,
           "get_interface() gives a table for a revision that it cannot know");
  t.expect(p.provider->open == nullptr || p.provider->close != nullptr, "open without close");
}

}  // namespace

void add_description(Suite& s) {
  s.add("description.texts", "ids, names and versions are there, one line each", texts);
  s.add("description.schemas", "the schemas are closed, and the profile's keys are known", schemas);
  s.add("description.capabilities", "capabilities say what their schema allows; extensions exist",
        capabilities);
  s.add("description.manifest", "plugin.json agrees with the tables", manifest);
  s.add("description.tables", "interfaces are given the same each time, unknown ones never",
        tables);
}

}  // namespace bulkhead::sdk::contract
