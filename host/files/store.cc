#include "files/store.h"

#include <exception>

#include "base/json.h"
#include "base/utf8.h"
#include "core/drive.h"

namespace bh {
namespace {

std::string_view view(const bh_str& s) {
  return s.data != nullptr ? std::string_view(s.data, s.size) : std::string_view();
}

// What a plugin's function hands over, one at a time.
struct Taking {
  Call* call = nullptr;  // the plugin's
  const Store::Each* each = nullptr;
  bool full = false;     // each() wants no more
  bool failed = false;
};

bh_status take_file(void* ctx, const bh_file_info* info) noexcept {
  Taking& to = *static_cast<Taking*>(ctx);
  if (to.full) return BH_CANCELLED;
  // All that lists cost time; a call that was stopped takes no more.
  if (bh_status stop = to.call->stop_reason()) return stop;
  try {
    if (info == nullptr || !BH_HAS(info, bh_file_info, media_type)) {
      to.failed = true;
      return BH_INTERNAL;
    }
    StoredFile file;
    file.name = utf8::repair(view(info->name));
    file.kind = info->kind;
    file.size = info->size;
    file.modified_ns = info->modified_ns;
    file.etag = utf8::repair(view(info->etag));
    file.media_type = utf8::repair(view(info->media_type));
    if ((*to.each)(file)) return BH_OK;
    to.full = true;
    to.call->stop(BH_CANCELLED);
    return BH_CANCELLED;
  } catch (const std::exception&) {
    to.failed = true;
    return BH_RESOURCE_EXHAUSTED;
  }
}

Failure misuse(const std::string& who, const char* what) {
  return fail(BH_INTERNAL, who + " " + what + "; that is a fault of the plugin", "plugin_misuse");
}

}  // namespace

Store::Store(const Provider& provider, const bh_host* host, void* self)
    : provider_(provider), table_(provider.filestore()), host_(host), self_(self) {}

Store::~Store() { provider_.ops.close(self_); }

Result<StoredFile> Store::stat(Call& up, const std::string& path) const {
  StoredFile found;
  int count = 0;
  Each each = [&](const StoredFile& file) {
    found = file;
    count++;
    return true;
  };
  Taking taking{nullptr, &each};
  NullSink nowhere;
  NoInput none;
  auto done = drive(up, host_, who("stat"), nowhere, none, [&](bh_call* call) {
    taking.call = static_cast<Call*>(call);
    return table_.stat(self_, call, path.data(), path.size(), take_file, &taking);
  });
  if (!done) return tl::unexpected(std::move(done).error());
  if (count != 1) return misuse(who("stat"), "told of no file, or of more than one");
  return found;
}

Result<void> Store::list(Call& up, const std::string& path, bool recursive,
                         const std::string& after, const Each& each) const {
  Taking taking{nullptr, &each};
  NullSink nowhere;
  NoInput none;
  auto done = drive(up, host_, who("list"), nowhere, none, [&](bh_call* call) {
    taking.call = static_cast<Call*>(call);
    return table_.list(self_, call, path.data(), path.size(), recursive ? BH_LIST_RECURSIVE : 0,
                       after.data(), after.size(), take_file, &taking);
  });
  if (taking.failed) return misuse(who("list"), "told of a file in an unknown shape");
  if (taking.full) return up.check();
  if (!done) return tl::unexpected(std::move(done).error());
  return {};
}

Result<void> Store::read(Call& up, const std::string& path, std::int64_t offset,
                         std::int64_t size, Sink& sink) const {
  NoInput none;
  auto done = drive(up, host_, who("read"), sink, none, [&](bh_call* call) {
    return table_.read(self_, call, path.data(), path.size(), offset, size);
  });
  if (!done) return tl::unexpected(std::move(done).error());
  return {};
}

Result<StoreWritten> Store::write(Call& up, const std::string& path, const StoreWrite& what) const {
  bh_write raw{};
  raw.struct_size = sizeof raw;
  raw.flags = what.input != nullptr ? BH_WRITE_INPUT : 0;
  raw.if_etag = {what.if_etag.data(), what.if_etag.size()};
  raw.media_type = {what.media_type.data(), what.media_type.size()};
  raw.data = what.data.data();
  raw.size = what.data.size();
  NullSink nowhere;
  NoInput none;
  Input& input = what.input != nullptr ? *what.input : none;
  auto done = drive(up, host_, who("write"), nowhere, input, [&](bh_call* call) {
    return table_.write(self_, call, path.data(), path.size(), &raw);
  });
  if (!done) return tl::unexpected(std::move(done).error());
  auto told = json::parse_object(*done);
  if (!told || json::get_string(*told, "etag").empty() || !told->contains("size")) {
    return misuse(who("write"), "gave no {\"etag\",\"size\"}");
  }
  StoreWritten out;
  out.size = json::get_int(*told, "size");
  out.etag = json::get_string(*told, "etag");
  return out;
}

Result<void> Store::remove(Call& up, const std::string& path, bool recursive) const {
  NullSink nowhere;
  NoInput none;
  auto done = drive(up, host_, who("remove"), nowhere, none, [&](bh_call* call) {
    return table_.remove(self_, call, path.data(), path.size(), recursive ? BH_LIST_RECURSIVE : 0);
  });
  if (!done) return tl::unexpected(std::move(done).error());
  return {};
}

}  // namespace bh
