// A plugin's tables as the host keeps them: full-size copies in which every function can be called.
// Shorter tables of older plugins and longer ones of newer plugins end here; optional functions
// that are absent answer BH_UNIMPLEMENTED with their name.
#pragma once

#include <bulkhead/browser.h>
#include <bulkhead/filestore.h>
#include <bulkhead/isolation.h>
#include <bulkhead/plugin.h>
#include <bulkhead/toolset.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <cstring>
#include <string>
#include <string_view>
#include <variant>

#include "loader/finding.h"

namespace bh {

// One provider that may be opened. Immutable; lives until the registry is gone.
struct Provider {
  std::string plugin;     // the plugin's id
  std::string interface;  // the kind: "bh.isolation/1"
  std::string id;         // unique within the kind
  std::string title;
  std::string config_schema;
  boost::json::object capabilities;
  bh_provider ops{};  // probe, open and close are never NULL; open gives a NULL `self` if absent
  std::variant<bh_isolation, bh_browser, bh_filestore, bh_toolset> table;

  // The table of its kind; asking for another kind's is a mistake of the host and throws.
  const bh_isolation& isolation() const { return std::get<bh_isolation>(table); }
  const bh_browser& browser() const { return std::get<bh_browser>(table); }
  const bh_filestore& filestore() const { return std::get<bh_filestore>(table); }
  const bh_toolset& toolset() const { return std::get<bh_toolset>(table); }

  // The kind's schemas ("profile_schema" ...), which callers' JSON must satisfy.
  std::string_view profile_schema() const { return isolation().profile_schema; }
  std::string_view exec_schema() const { return isolation().exec_schema; }
};

// Is it one of the kinds whose tables this host reads?
bool is_known_kind(std::string_view interface);

// Reads and copies one provider of a known kind: sizes, texts and required functions are checked
// (stage interface), nothing past struct_size is read. `where` names it in messages. [any]
Checked<Provider> copy_provider(const bh_provider* provider, std::string_view interface,
                                const std::string& where);

// As much of a grown or shorter struct as both sides know; the rest is zero. `from` has at least
// struct_size.
template <class T>
T copy_table(const T* from) {
  T copy{};
  std::memcpy(&copy, from, std::min<size_t>(from->struct_size, sizeof copy));
  copy.struct_size = sizeof copy;
  return copy;
}

// True for NUL-terminated text of at most `limit` bytes.
bool is_text(const char* text, size_t limit);

}  // namespace bh
