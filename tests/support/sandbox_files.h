// The table bh.isolation.files/1 of a backend, as a host drives it.
#pragma once

#include <bulkhead/isolation_files.h>

#include <functional>
#include <string>
#include <vector>

#include "support/sandboxes.h"

namespace bh_test {

struct FoundFile {
  int kind = -1;
  std::string name, target, owner, group;
  int64_t size = -1, modified_ns = 0, created_ns = 0;
  uint32_t mode = 0;
};

// One answer.
struct Filed {
  bh_status status = BH_UNKNOWN;
  std::string message, reason, details;
  std::string data;
  std::vector<FoundFile> files;
  bool input_ended = false;
};

class BoxFiles {
 public:
  explicit BoxFiles(Backend& backend, std::string id = "s1") : backend_(backend), id_(std::move(id)) {
    table_ = static_cast<const bh_isolation_files*>(
        backend.table().get_extension(BH_ISOLATION_FILES));
  }
  const bh_isolation_files* table() const { return table_; }
  // Called with each call before it starts, to script it.
  std::function<void(testing::FakeCall&)> script;

  Filed stat(const std::string& path, uint32_t flags = 0) {
    return run([&](bh_call* c, void* box, void* ctx) {
      return table_->stat(box, c, path.data(), path.size(), flags, &keep, ctx);
    });
  }
  Filed list(const std::string& path, uint32_t depth = 1) {
    return run([&](bh_call* c, void* box, void* ctx) {
      return table_->list(box, c, path.data(), path.size(), depth, &keep, ctx);
    });
  }
  Filed read(const std::string& path, int64_t offset = 0, int64_t size = -1) {
    return run([&](bh_call* c, void* box, void*) {
      return table_->read(box, c, path.data(), path.size(), offset, size);
    });
  }
  Filed write(const std::string& path, const std::string& data, uint32_t flags = 0,
              uint32_t mode = BH_MODE_KEEP, const std::string& owner = {}) {
    bh_file_access access{};
    access.struct_size = sizeof access;
    access.mode = mode;
    access.owner = {owner.data(), owner.size()};
    return run([&](bh_call* c, void* box, void*) {
      return table_->write(box, c, path.data(), path.size(), flags, &access, data.data(),
                           data.size());
    });
  }
  Filed make_folder(const std::string& path, uint32_t flags = 0, uint32_t mode = BH_MODE_KEEP) {
    bh_file_access access{};
    access.struct_size = sizeof access;
    access.mode = mode;
    return run([&](bh_call* c, void* box, void*) {
      return table_->make_folder(box, c, path.data(), path.size(), flags, &access);
    });
  }
  Filed set_access(const std::string& path, uint32_t mode, const std::string& owner = {}) {
    bh_file_access access{};
    access.struct_size = sizeof access;
    access.mode = mode;
    access.owner = {owner.data(), owner.size()};
    return run([&](bh_call* c, void* box, void*) {
      return table_->set_access(box, c, path.data(), path.size(), &access);
    });
  }
  Filed rename(const std::string& from, const std::string& to, uint32_t flags = 0) {
    return run([&](bh_call* c, void* box, void*) {
      return table_->rename(box, c, from.data(), from.size(), to.data(), to.size(), flags);
    });
  }
  Filed remove(const std::string& path, uint32_t flags = 0) {
    return run([&](bh_call* c, void* box, void*) {
      return table_->remove(box, c, path.data(), path.size(), flags);
    });
  }

 private:
  static bh_status keep(void* ctx, const bh_file_info* info) {
    auto text = [](const bh_str& s) { return std::string(bulkhead::sdk::view(s)); };
    FoundFile f;
    f.kind = info->kind;
    f.name = text(info->name);
    f.target = text(info->target);
    f.owner = text(info->owner);
    f.group = text(info->group);
    f.size = info->size;
    f.modified_ns = info->modified_ns;
    f.created_ns = info->created_ns;
    f.mode = info->mode;
    static_cast<std::vector<FoundFile>*>(ctx)->push_back(std::move(f));
    return BH_OK;
  }
  template <class F>
  Filed run(F f) {
    testing::FakeCall call(backend_.host());
    if (script) script(call);
    Filed out;
    out.status = f(call.raw(), backend_.handle(id_), &out.files);
    testing::Recorded got = call.recorded();
    out.message = got.message;
    out.details = got.details;
    const size_t at = got.details.find("\"reason\":\"");
    if (at != std::string::npos) {
      out.reason = got.details.substr(at + 10, got.details.find('"', at + 10) - at - 10);
    }
    out.data = got.output[BH_STREAM_DATA];
    out.input_ended = got.input_ended;
    return out;
  }

  Backend& backend_;
  const std::string id_;
  const bh_isolation_files* table_ = nullptr;
};

}  // namespace bh_test
