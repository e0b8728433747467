#include "state/sandbox_records.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <memory>

#include "base/beneath.h"

namespace bh {
namespace {

constexpr std::size_t kMaxRecord = 1u << 20;
constexpr const char kFolder[] = "state/sandboxes";
constexpr const char kDefaults[] = "state/defaults";

struct CloseDir {
  void operator()(DIR* d) const { ::closedir(d); }
};

Failure not_found(const std::string& id) {
  return fail(BH_NOT_FOUND, "there is no sandbox " + json::quote(id) + " (sandbox.list names yours)",
              "sandbox_not_found", {{"sandbox", id}});
}

}  // namespace

bool valid_sandbox_id(std::string_view id) {
  return !id.empty() && id.size() <= 63 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

Result<void> SandboxRecords::put(const SandboxRecord& record) const {
  json::object o;
  o["version"] = 1;
  o["id"] = record.id;
  o["persona"] = record.persona;
  o["backend"] = record.backend;
  o["default_key"] = record.default_key;
  o["state"] = record.state;
  o["created_ms"] = record.created_ms;
  o["profile"] = record.profile;
  o["report"] = record.report;
  auto folder = make_folder_beneath(root_.fd(), kFolder, 0700);
  if (!folder) return tl::unexpected(std::move(folder).error());
  BH_TRY(write_beneath(folder->get(), record.id + ".json", json::print(o), 0600));
  if (record.default_key.empty()) return {};
  auto defaults = make_folder_beneath(root_.fd(), kDefaults, 0700);
  if (!defaults) return tl::unexpected(std::move(defaults).error());
  return write_beneath(defaults->get(), record.default_key, record.id, 0600);
}

Result<SandboxRecord> SandboxRecords::get(const std::string& id) const {
  if (!valid_sandbox_id(id)) return not_found(id);
  auto text = read_beneath(root_.fd(), std::string(kFolder) + "/" + id + ".json", kMaxRecord);
  if (!text) {
    if (text.error().code == BH_NOT_FOUND) return not_found(id);
    return tl::unexpected(std::move(text).error());
  }
  auto o = json::parse_object(*text);
  if (!o || json::get_int(*o, "version") != 1) {
    return fail(BH_DATA_LOSS, "the record of sandbox " + id + " cannot be read by this version",
                "record", {{"sandbox", id}});
  }
  SandboxRecord r;
  r.id = id;
  r.persona = json::get_string(*o, "persona");
  r.backend = json::get_string(*o, "backend");
  r.default_key = json::get_string(*o, "default_key");
  r.state = json::get_string(*o, "state");
  r.created_ms = json::get_int(*o, "created_ms");
  if (const auto* profile = json::get_object(*o, "profile")) r.profile = *profile;
  if (const auto* report = json::get_object(*o, "report")) r.report = *report;
  return r;
}

Result<void> SandboxRecords::remove(const SandboxRecord& record) const {
  if (!record.default_key.empty() && default_of(record.default_key) == record.id) {
    BH_TRY(remove_beneath(root_.fd(), std::string(kDefaults) + "/" + record.default_key));
  }
  return remove_beneath(root_.fd(), std::string(kFolder) + "/" + record.id + ".json");
}

Result<std::vector<SandboxRecord>> SandboxRecords::all() const {
  auto folder = make_folder_beneath(root_.fd(), kFolder, 0700);
  if (!folder) return tl::unexpected(std::move(folder).error());
  std::vector<std::string> ids;
  {
    std::unique_ptr<DIR, CloseDir> dir(::fdopendir(folder->get()));
    if (!dir) return fail_errno(errno, "reading the records of sandboxes");
    (void)folder->release();  // closed with the DIR
    while (const dirent* entry = ::readdir(dir.get())) {
      std::string name = entry->d_name;
      if (name.size() > 5 && name.substr(name.size() - 5) == ".json" && name[0] != '.') {
        ids.push_back(name.substr(0, name.size() - 5));
      }
    }
  }
  std::sort(ids.begin(), ids.end());
  std::vector<SandboxRecord> out;
  for (const std::string& id : ids) {
    auto record = get(id);
    // One may go between the listing and here.
    if (record) out.push_back(std::move(*record));
  }
  return out;
}

std::string SandboxRecords::default_of(const std::string& key) const {
  auto id = read_beneath(root_.fd(), std::string(kDefaults) + "/" + key, 128);
  return id && valid_sandbox_id(*id) ? *id : std::string();
}

}  // namespace bh
