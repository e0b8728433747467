#include "files/stores.h"

#include <utility>

#include "base/json.h"
#include "core/drive.h"
#include "loader/opening.h"

namespace bh {
namespace {

constexpr char kFolder[] = "filestores";

// The store's own error, as one word for all that keeps it from working. What is wrong with its
// configuration stays as it is: the operator has to see which member.
Error unavailable(Error error, const std::string& id) {
  if (error.code == BH_INVALID_ARGUMENT || error.code == BH_CANCELLED ||
      error.code == BH_DEADLINE_EXCEEDED) {
    return error;
  }
  json::object details;
  details["reason"] = "store_unavailable";
  details["store"] = id;
  if (auto told = json::parse_object(error.details)) {
    if (const json::value* remedy = told->if_contains("remedy")) details["remedy"] = *remedy;
    details["cause"] = std::move(*told);
  }
  error.code = BH_UNAVAILABLE;
  error.message = "the file store " + id + " cannot work here: " + error.message;
  error.details = json::print(details);
  return error;
}

}  // namespace

Stores::Stores(const DataRoot& root, const FilesSettings& settings, Find find, Names names,
               HostOf host_of)
    : root_(root), settings_(settings), find_(std::move(find)), names_(std::move(names)),
      host_of_(std::move(host_of)) {}

Result<std::shared_ptr<const Store>> Stores::open(Call& up) {
  const std::string id = settings_.store.empty() ? kDefaultStore : settings_.store;
  auto found = find_(id);
  if (!found && found.error().code == BH_NOT_FOUND) {
    std::string known;
    for (const std::string& name : names_()) known += (known.empty() ? "" : ", ") + name;
    return fail(BH_UNAVAILABLE,
                "there is no file store " + json::quote(id) + "; installed are: " +
                    (known.empty() ? "none" : known),
                "store_unavailable",
                {{"store", id},
                 {"remedy",
                  known.empty() ? "install a plugin that offers a file store, as filestore_dir"
                                : "name one that is there in the configuration: {\"files\":"
                                  "{\"store\":NAME}}"}});
  }
  if (!found) return tl::unexpected(unavailable(std::move(found).error(), id));
  const Provider& provider = **found;
  auto opening = Opening::make(provider, settings_.config, root_, kFolder);
  if (!opening) return tl::unexpected(unavailable(std::move(opening).error(), id));
  const bh_opening how = opening->view();
  const bh_host* host = host_of_(provider.plugin);
  NullSink nowhere;
  NoInput none;
  void* self = nullptr;
  auto opened = drive(up, host, provider.plugin + ", open", nowhere, none,
                      [&](bh_call* call) { return provider.ops.open(call, &how, &self); });
  if (!opened) return tl::unexpected(unavailable(std::move(opened).error(), id));
  return std::make_shared<const Store>(provider, host, self);
}

Result<std::shared_ptr<const Store>> Stores::get(Call& up) {
  // Opening is rare, and others would have to wait for its end anyway.
  std::lock_guard lock(mutex_);
  if (open_) return open_;
  auto opened = open(up);
  if (opened) open_ = *opened;
  return opened;
}

void Stores::close() {
  std::lock_guard lock(mutex_);
  open_.reset();
}

}  // namespace bh
