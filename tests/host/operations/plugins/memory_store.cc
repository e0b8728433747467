#include "memory_store.h"

#include <bulkhead/sdk/json.hpp>

#include <map>
#include <mutex>

namespace obedient {

namespace sdk = bulkhead::sdk;
using sdk::failure;
using sdk::Status;

namespace {

struct Kept {
  std::string data, media_type;
  int64_t size = 0;
  int version = 0;
};

constexpr std::string_view kZeros = "zeros-";

std::string_view base_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool made_of_nothing(std::string_view path) {
  return base_of(path).substr(0, kZeros.size()) == kZeros;
}

Status missing(std::string_view path) {
  return failure(BH_NOT_FOUND, "nothing in memory at " + sdk::json_quote(path), "gone", "path");
}

}  // namespace

struct MemoryStore::Inside {
  sdk::json::object config;
  std::mutex m;
  std::map<std::string, Kept, std::less<>> files;
  int versions = 0;
  // The next read finds its file replaced once it has begun.
  bool replace_while_read = false;

  Status tell(std::string_view name, std::string_view path, const sdk::EachFile& each) {
    Kept file;
    if (made_of_nothing(path)) {
      file.size = std::stoll(std::string(base_of(path).substr(kZeros.size())));
    } else {
      std::lock_guard lock(m);
      auto at = files.find(path);
      if (at == files.end()) return missing(path);
      file = at->second;
    }
    const std::string etag = "v" + std::to_string(file.version);
    bh_file_info info{};
    info.struct_size = sizeof info;
    info.kind = BH_FILE_REGULAR;
    info.name = sdk::str(name);
    info.size = file.size;
    info.modified_ns = 5'000'000;
    info.created_ns = -1;
    info.etag = sdk::str(etag);
    info.media_type = sdk::str(file.media_type);
    return each(info);
  }
};

sdk::Provides memory_store() {
  return sdk::Provides().title("Memory").config_schema(
      R"({"type":"object","additionalProperties":false,"properties":{"open_fails":{"type":"boolean"},"no_etag":{"type":"boolean"},"changes":{"type":"boolean"}}})");
}

MemoryStore::MemoryStore(const sdk::Opening& how) : in_(std::make_unique<Inside>()) {
  in_->config = std::move(*sdk::json::parse_object(how.config()));
  in_->replace_while_read = sdk::json::boolean(in_->config, "changes");
}
MemoryStore::~MemoryStore() = default;

sdk::Result<std::unique_ptr<MemoryStore>> MemoryStore::open(sdk::Call&, const sdk::Opening& how) {
  auto made = std::make_unique<MemoryStore>(how);
  if (sdk::json::boolean(made->in_->config, "open_fails")) {
    return failure(BH_FAILED_PRECONDITION, "the memory is full of holes", "holes", {}, "mend it");
  }
  return made;
}

Status MemoryStore::stat(sdk::Call&, std::string_view path, const sdk::EachFile& each) {
  if (std::unique_lock lock(in_->m); in_->files.count(path) == 0 && !made_of_nothing(path)) {
    const std::string folder = std::string(path) + "/";
    auto below = in_->files.lower_bound(folder);
    if (below != in_->files.end() && below->first.compare(0, folder.size(), folder) == 0) {
      bh_file_info info{};
      info.struct_size = sizeof info;
      info.kind = BH_FILE_DIRECTORY;
      lock.unlock();
      return each(info);
    }
  }
  return in_->tell({}, path, each);
}

// Folders are what names have in common.
Status MemoryStore::list(sdk::Call&, std::string_view path, bool recursive, std::string_view after,
                         const sdk::EachFile& each) {
  const std::string folder = std::string(path) + "/";
  std::map<std::string, bool> names;  // and whether it is a folder
  {
    std::lock_guard lock(in_->m);
    for (const auto& [whole, kept] : in_->files) {
      if (whole.compare(0, folder.size(), folder) != 0) continue;
      std::string name = whole.substr(folder.size());
      const size_t slash = name.find('/');
      const bool below = !recursive && slash != std::string::npos;
      names[below ? name.substr(0, slash) : name] = below;
    }
  }
  if (names.empty()) return missing(path);
  for (auto at = names.upper_bound(std::string(after)); at != names.end(); ++at) {
    if (!at->second) {
      if (auto st = in_->tell(at->first, folder + at->first, each); !st) return st;
      continue;
    }
    bh_file_info info{};
    info.struct_size = sizeof info;
    info.kind = BH_FILE_DIRECTORY;
    info.name = sdk::str(at->first);
    if (auto st = each(info); !st) return st;
  }
  return {};
}

Status MemoryStore::read(sdk::Call& call, std::string_view path, int64_t offset, int64_t size) {
  Kept file;
  if (made_of_nothing(path)) {
    file.size = std::stoll(std::string(base_of(path).substr(kZeros.size())));
  } else {
    std::lock_guard lock(in_->m);
    auto at = in_->files.find(path);
    if (at == in_->files.end()) return missing(path);
    file = at->second;
    if (std::exchange(in_->replace_while_read, false)) at->second.version = ++in_->versions;
  }
  int64_t left = size < 0 ? file.size - offset : std::min(size, file.size - offset);
  static const std::string zeros(1 << 20, '\0');
  while (left > 0) {
    const int64_t n = std::min<int64_t>(left, 1 << 20);
    const std::string_view piece = file.data.empty()
                                       ? std::string_view(zeros).substr(0, static_cast<size_t>(n))
                                       : std::string_view(file.data).substr(
                                             static_cast<size_t>(offset), static_cast<size_t>(n));
    if (auto st = call.emit(BH_STREAM_DATA, piece); !st) return st;
    offset += n;
    left -= n;
  }
  return {};
}

Status MemoryStore::write(sdk::Call& call, std::string_view path, const sdk::FileWrite& what) {
  Kept file;
  file.media_type = what.media_type();
  file.data = what.data();
  file.size = static_cast<int64_t>(file.data.size());
  std::string buffer(1 << 16, '\0');
  while (what.from_input()) {
    auto got = call.receive(buffer.data(), buffer.size());
    if (!got) return got.status();
    if (*got == 0) break;
    file.size += static_cast<int64_t>(*got);
    if (base_of(path) != "void") file.data.append(buffer, 0, *got);
  }
  std::lock_guard lock(in_->m);
  auto at = in_->files.find(path);
  const bool there = at != in_->files.end();
  if (what.if_etag() == "*" && there) {
    return failure(BH_ALREADY_EXISTS, sdk::json_quote(path) + " is kept already", "kept", "if_etag");
  }
  if (!what.if_etag().empty() && what.if_etag() != "*" &&
      (!there || what.if_etag() != "v" + std::to_string(at->second.version))) {
    return failure(BH_ABORTED, sdk::json_quote(path) + " is another by now", "other", "if_etag");
  }
  file.version = ++in_->versions;
  const int64_t size = file.size;
  const int version = file.version;
  in_->files[std::string(path)] = std::move(file);
  sdk::JsonObject told;
  if (!sdk::json::boolean(in_->config, "no_etag")) told.text("etag", "v" + std::to_string(version));
  return call.result(told.number("size", size).str());
}

Status MemoryStore::remove(sdk::Call&, std::string_view path, bool recursive) {
  std::lock_guard lock(in_->m);
  if (in_->files.erase(std::string(path)) > 0) return {};
  const std::string folder = std::string(path) + "/";
  auto from = in_->files.lower_bound(folder);
  auto to = from;
  while (to != in_->files.end() && to->first.compare(0, folder.size(), folder) == 0) ++to;
  if (from == to) return missing(path);
  if (!recursive) return failure(BH_FAILED_PRECONDITION, "it holds something", "not_empty", "path");
  in_->files.erase(from, to);
  return {};
}

}  // namespace obedient
