#include "loader/opening.h"

#include <string_view>
#include <utility>

#include "core/schema.h"

namespace bh {
namespace {

constexpr std::string_view kOwner = "bulkhead";

bh_str borrow(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Result<Opening> Opening::make(const Provider& provider,
                              const std::map<std::string, json::object>& configured,
                              const DataRoot& root, const std::string& kind) {
  json::object config;
  if (auto own = configured.find(provider.id); own != configured.end()) config = own->second;
  Schema::Options closed;
  closed.closed = true;
  // The whole place, since the sentence may be read far from here.
  const std::string place = std::string("config /") +
                            (provider.interface == BH_ISOLATION ? "isolation" : "toolsets") +
                            "/config/" + provider.id;
  closed.subject = place;
  auto schema = Schema::compile(provider.config_schema, closed);
  if (!schema) return tl::unexpected(std::move(schema).error());
  BH_TRY((*schema)->check(config));
  auto folder = root.folder(kind + "/" + provider.id);
  if (!folder) return tl::unexpected(std::move(folder).error());
  return Opening(provider, json::print(config), std::move(*folder));
}

bh_opening Opening::view() const {
  bh_opening how{};
  how.struct_size = sizeof how;
  how.config = borrow(config_);
  how.instance = borrow(instance_);
  how.owner = borrow(kOwner);
  how.state_dir = borrow(folder_);
  return how;
}

}  // namespace bh
