// bulkhead/sdk/filestore.hpp - base class for file stores. What each function owes is said in
// bulkhead/filestore.h.
#ifndef BULKHEAD_SDK_FILESTORE_HPP
#define BULKHEAD_SDK_FILESTORE_HPP

#include <bulkhead/filestore.h>

#include <memory>
#include <string_view>

#include "file_info.hpp"
#include "provider.hpp"

namespace bulkhead::sdk {

// What to write: a view, valid during the call.
class FileWrite {
 public:
  explicit FileWrite(const bh_write* raw) : raw_(raw) {}
  // Empty: any; "*": must not exist; else the etag that it has to have.
  std::string_view if_etag() const { return view(raw_->if_etag); }
  std::string_view media_type() const { return view(raw_->media_type); }
  // The bytes come through Call::receive(), not from data().
  bool from_input() const { return (raw_->flags & BH_WRITE_INPUT) != 0; }
  std::string_view data() const { return view(static_cast<const char*>(raw_->data), raw_->size); }

 private:
  const bh_write* raw_;
};

// The opened store. Paths are relative and checked. Functions are called from any thread, beside
// each other.
class FileStore {
 public:
  virtual ~FileStore() = default;
  virtual Status stat(Call& call, std::string_view path, const EachFile& each) = 0;
  // By name, bytewise, beginning behind `after`.
  virtual Status list(Call& call, std::string_view path, bool recursive, std::string_view after,
                      const EachFile& each) = 0;
  // Bytes go to emit(BH_STREAM_DATA). size < 0: to the end.
  virtual Status read(Call& call, std::string_view path, int64_t offset, int64_t size) = 0;
  // All or nothing. result(): {"etag","size"}.
  virtual Status write(Call& call, std::string_view path, const FileWrite& what) = 0;
  virtual Status remove(Call& call, std::string_view path, bool recursive) = 0;
};

namespace detail {

inline Status known_flags(uint32_t flags, uint32_t known) {
  if ((flags & ~known) == 0) return {};
  return failure(BH_UNIMPLEMENTED, "this file store does not know all flags of the call",
                 "unknown_flag", "flags");
}

template <class T>
struct FileStoreTable {
  static FileStore& self(void* p) { return *static_cast<FileStore*>(p); }

  static bh_status stat(void* s, bh_call* call, const char* path, size_t size, bh_file_fn each,
                        void* ctx) noexcept {
    return guard(call,
                 [&](Call& c) { return self(s).stat(c, view(path, size), EachFile(each, ctx)); });
  }
  static bh_status list(void* s, bh_call* call, const char* path, size_t size, uint32_t flags,
                        const char* after, size_t after_size, bh_file_fn each, void* ctx) noexcept {
    return guard(call, [&](Call& c) -> Status {
      if (auto st = known_flags(flags, BH_LIST_RECURSIVE); !st) return st;
      return self(s).list(c, view(path, size), flags != 0, view(after, after_size),
                          EachFile(each, ctx));
    });
  }
  static bh_status read(void* s, bh_call* call, const char* path, size_t path_size, int64_t offset,
                        int64_t size) noexcept {
    return guard(call,
                 [&](Call& c) { return self(s).read(c, view(path, path_size), offset, size); });
  }
  static bh_status write(void* s, bh_call* call, const char* path, size_t size,
                         const bh_write* what) noexcept {
    return guard(call, [&](Call& c) -> Status {
      if (auto st = known_flags(what->flags, BH_WRITE_INPUT); !st) return st;
      return self(s).write(c, view(path, size), FileWrite(what));
    });
  }
  static bh_status remove(void* s, bh_call* call, const char* path, size_t size,
                          uint32_t flags) noexcept {
    return guard(call, [&](Call& c) -> Status {
      if (auto st = known_flags(flags, BH_LIST_RECURSIVE); !st) return st;
      return self(s).remove(c, view(path, size), flags != 0);
    });
  }
  static std::shared_ptr<bh_filestore> make(const Provides&) {
    auto t = std::make_shared<bh_filestore>();
    t->struct_size = sizeof *t;
    t->abi_minor = BH_ABI_MINOR;
    t->stat = &stat;
    t->list = &list;
    t->read = &read;
    t->write = &write;
    t->remove = &remove;
    t->get_extension = &Life<FileStore, T>::extension;
    return t;
  }
};

}  // namespace detail
}  // namespace bulkhead::sdk

#endif  // BULKHEAD_SDK_FILESTORE_HPP
