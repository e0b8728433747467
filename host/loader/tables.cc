#include "loader/tables.h"

#include <cstddef>
#include <initializer_list>

#include "base/json.h"
#include "base/utf8.h"
#include "loader/names.h"
#include "loader/stubs.h"

namespace bh {
namespace {

constexpr size_t kSchemaLimit = 1 << 20;
constexpr size_t kLineLimit = 256;

// A function or text that a table must have: its place, and its name for the report.
struct Required {
  size_t offset;
  const char* name;
};

#define BH_REQUIRED(type, field) \
  Required { offsetof(type, field), #field }

tl::unexpected<Finding> wrong(const std::string& where, const std::string& what,
                              std::string hint) {
  return refuse(LoadStage::interface, where + ": " + what, std::move(hint));
}

// All required slots lie within struct_size and are not NULL. All of them are one pointer wide.
template <class T>
Checked<void> check_slots(const T* table, const std::string& where,
                          std::initializer_list<Required> required) {
  for (const Required& slot : required) {
    if (table->struct_size < slot.offset + sizeof(void*)) {
      return wrong(where,
                   "its table is too short: " + std::to_string(table->struct_size) +
                       " bytes end before " + slot.name,
                   ask_author("set struct_size to sizeof of the struct"));
    }
    const void* value = nullptr;
    std::memcpy(&value, reinterpret_cast<const char*>(table) + slot.offset, sizeof value);
    if (value == nullptr) {
      return wrong(where, std::string(slot.name) + " is NULL, but required",
                   ask_author(std::string("fill ") + slot.name + " in; until then the plugin is of no use here"));
    }
  }
  return {};
}

// Copies the kind's table into the provider, after its required slots have been seen.
template <class T>
Checked<void> take(Provider& provider, const void* raw, const std::string& where,
                   std::initializer_list<Required> required) {
  const T* table = static_cast<const T*>(raw);
  if (auto ok = check_slots(table, where, required); !ok) return ok;
  T copy = copy_table(table);
  fill_stubs(copy);
  provider.table = copy;
  return {};
}

Checked<void> take_table(Provider& provider, const void* raw, const std::string& where) {
  if (provider.interface == BH_ISOLATION) {
    return take<bh_isolation>(
        provider, raw, where,
        {BH_REQUIRED(bh_isolation, profile_schema), BH_REQUIRED(bh_isolation, exec_schema),
         BH_REQUIRED(bh_isolation, create), BH_REQUIRED(bh_isolation, destroy),
         BH_REQUIRED(bh_isolation, release), BH_REQUIRED(bh_isolation, exec)});
  }
  if (provider.interface == BH_TOOLSET) {
    return take<bh_toolset>(provider, raw, where,
                            {BH_REQUIRED(bh_toolset, list), BH_REQUIRED(bh_toolset, call)});
  }
  if (provider.interface == BH_BROWSER) {
    return take<bh_browser>(
        provider, raw, where,
        {BH_REQUIRED(bh_browser, session_schema), BH_REQUIRED(bh_browser, start),
         BH_REQUIRED(bh_browser, stop), BH_REQUIRED(bh_browser, act)});
  }
  return take<bh_filestore>(provider, raw, where,
                            {BH_REQUIRED(bh_filestore, stat), BH_REQUIRED(bh_filestore, list),
                             BH_REQUIRED(bh_filestore, read), BH_REQUIRED(bh_filestore, write),
                             BH_REQUIRED(bh_filestore, remove)});
}

}  // namespace

bool is_text(const char* text, size_t limit) {
  if (text == nullptr) return false;
  const size_t size = ::strnlen(text, limit + 1);
  return size <= limit && utf8::valid(std::string_view(text, size));
}

bool is_known_kind(std::string_view interface) {
  return interface == BH_ISOLATION || interface == BH_TOOLSET || interface == BH_BROWSER ||
         interface == BH_FILESTORE;
}

Checked<Provider> copy_provider(const bh_provider* raw, std::string_view interface,
                                const std::string& where) {
  if (raw == nullptr) return wrong(where, "is NULL", ask_author("count only the providers that there are"));
  if (auto ok =
          check_slots(raw, where,
                      {BH_REQUIRED(bh_provider, id), BH_REQUIRED(bh_provider, title),
                       BH_REQUIRED(bh_provider, config_schema),
                       BH_REQUIRED(bh_provider, capabilities), BH_REQUIRED(bh_provider, table)});
      !ok) {
    return tl::make_unexpected(ok.error());
  }
  if (!is_text(raw->id, kLineLimit) || !is_provider_id(raw->id)) {
    return wrong(where, "its id is not of the form [a-z0-9][a-z0-9_-]*, 63 characters at most",
                 ask_author("name the provider so"));
  }
  Provider provider;
  provider.interface = std::string(interface);
  provider.id = raw->id;
  const std::string name = provider.interface + " \"" + provider.id + "\"";
  if (!is_text(raw->title, kLineLimit) || !is_line(raw->title)) {
    return wrong(name, "its title is not one line of text",
                 ask_author("give it one of 256 bytes at most, in UTF-8"));
  }
  if (!is_text(raw->config_schema, kSchemaLimit) || !is_text(raw->capabilities, kSchemaLimit)) {
    return wrong(name, "config_schema or capabilities is not UTF-8 text of 1 MiB at most",
                 ask_author("give both as short UTF-8 texts; \"{}\" says nothing"));
  }
  if ((raw->open == nullptr) != (raw->close == nullptr)) {
    return wrong(name, "open and close belong together: one of them is NULL",
                 ask_author(std::string("add ") + (raw->open == nullptr ? "open" : "close")));
  }
  auto capabilities = json::parse_object(raw->capabilities);
  if (!capabilities) {
    return wrong(name, "capabilities is not a JSON object: " + capabilities.error().message,
                 ask_author("give a JSON object, \"{}\" where there is nothing to say"));
  }
  provider.title = raw->title;
  provider.config_schema = raw->config_schema;
  provider.capabilities = std::move(*capabilities);
  provider.ops = copy_table(raw);
  fill_stubs(provider.ops);
  if (auto ok = take_table(provider, raw->table, name); !ok) {
    return tl::make_unexpected(ok.error());
  }
  return provider;
}

}  // namespace bh
