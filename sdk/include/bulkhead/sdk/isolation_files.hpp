// bulkhead/sdk/isolation_files.hpp - files inside a sandbox (isolation_files.h) as one more ability
// that a Sandbox derives from; isolation_extensions.hpp shows how. Backends that run a helper
// program inside get all of it from bulkhead/sdk/isolation/files_client.hpp.
#ifndef BULKHEAD_SDK_ISOLATION_FILES_HPP
#define BULKHEAD_SDK_ISOLATION_FILES_HPP

#include <bulkhead/isolation_files.h>

#include "file_info.hpp"
#include "isolation_extensions.hpp"

namespace bulkhead::sdk {

// Who may do what with a file: a view, valid during the call.
struct FileAccess {
  uint32_t mode = BH_MODE_KEEP;
  std::string_view owner, group;  // a name or a number; empty: as it is

  static FileAccess of(const bh_file_access* raw) {
    FileAccess out;
    if (raw == nullptr) return out;
    if (BH_HAS(raw, bh_file_access, mode)) out.mode = raw->mode;
    if (BH_HAS(raw, bh_file_access, owner)) out.owner = view(raw->owner);
    if (BH_HAS(raw, bh_file_access, group)) out.group = view(raw->group);
    return out;
  }
  bool keeps_all() const { return mode == BH_MODE_KEEP && owner.empty() && group.empty(); }
};

// Paths are bytes, absolute, without NUL. Flags that a function does not list never reach it.
class Files {
 public:
  // BH_FILE_NO_FOLLOW. Exactly one file, its name empty.
  virtual Status stat(Call& call, std::string_view path, uint32_t flags, const EachFile& each) = 0;
  virtual Status list(Call& call, std::string_view path, uint32_t depth, const EachFile& each) = 0;
  // Bytes go to emit(BH_STREAM_DATA). size < 0: to the end.
  virtual Status read(Call& call, std::string_view path, int64_t offset, int64_t size) = 0;
  // BH_FILE_NO_FOLLOW, PARENTS, INPUT (then `data` is empty), APPEND, NEW.
  virtual Status write(Call& call, std::string_view path, uint32_t flags, const FileAccess& access,
                       std::string_view data) = 0;
  // BH_FILE_PARENTS: also that it is there already is fine.
  virtual Status make_folder(Call& call, std::string_view path, uint32_t flags,
                             const FileAccess& access) = 0;
  virtual Status set_access(Call& call, std::string_view path, const FileAccess& access) = 0;
  // BH_FILE_NEW: nothing is replaced. BH_FILE_PARENTS: of `to`.
  virtual Status rename(Call& call, std::string_view from, std::string_view to, uint32_t flags) = 0;
  // BH_FILE_RECURSIVE: a folder with all that it holds; without it a folder is refused.
  virtual Status remove(Call& call, std::string_view path, uint32_t flags) = 0;

 protected:
  ~Files() = default;
};

namespace detail {

template <>
struct Extension<Files> {
  static constexpr std::string_view kId = BH_ISOLATION_FILES;

  static Status fit(std::string_view path, uint32_t flags = 0, uint32_t known = 0) {
    if ((flags & ~known) != 0) {
      return failure(BH_UNIMPLEMENTED, "this backend does not know all flags of the call",
                     "unknown_flag", "flags");
    }
    if (path.empty() || path[0] != '/' || path.find('\0') != std::string_view::npos) {
      return failure(BH_INVALID_ARGUMENT,
                     "a path inside a sandbox is absolute and holds no NUL byte", "path_invalid",
                     "path", "name it as a process inside would, from / on");
    }
    return {};
  }
  static bh_status stat(void* b, bh_call* call, const char* path, size_t size, uint32_t flags,
                        bh_file_fn each, void* ctx) noexcept {
    return with<Files>(b, call, [&](Files& f, Call& c) -> Status {
      if (auto st = fit(view(path, size), flags, BH_FILE_NO_FOLLOW); !st) return st;
      return f.stat(c, view(path, size), flags, EachFile(each, ctx));
    });
  }
  static bh_status list(void* b, bh_call* call, const char* path, size_t size, uint32_t depth,
                        bh_file_fn each, void* ctx) noexcept {
    return with<Files>(b, call, [&](Files& f, Call& c) -> Status {
      if (auto st = fit(view(path, size)); !st) return st;
      return f.list(c, view(path, size), depth, EachFile(each, ctx));
    });
  }
  static bh_status read(void* b, bh_call* call, const char* path, size_t path_size, int64_t offset,
                        int64_t size) noexcept {
    return with<Files>(b, call, [&](Files& f, Call& c) -> Status {
      if (auto st = fit(view(path, path_size)); !st) return st;
      return f.read(c, view(path, path_size), offset, size);
    });
  }
  static bh_status write(void* b, bh_call* call, const char* path, size_t path_size, uint32_t flags,
                         const bh_file_access* access, const void* data, size_t size) noexcept {
    return with<Files>(b, call, [&](Files& f, Call& c) -> Status {
      constexpr uint32_t kKnown = BH_FILE_NO_FOLLOW | BH_FILE_PARENTS | BH_FILE_INPUT |
                                  BH_FILE_APPEND | BH_FILE_NEW;
      if (auto st = fit(view(path, path_size), flags, kKnown); !st) return st;
      return f.write(c, view(path, path_size), flags, FileAccess::of(access),
                     view(static_cast<const char*>(data), size));
    });
  }
  static bh_status make_folder(void* b, bh_call* call, const char* path, size_t size,
                               uint32_t flags, const bh_file_access* access) noexcept {
    return with<Files>(b, call, [&](Files& f, Call& c) -> Status {
      if (auto st = fit(view(path, size), flags, BH_FILE_PARENTS); !st) return st;
      return f.make_folder(c, view(path, size), flags, FileAccess::of(access));
    });
  }
  static bh_status set_access(void* b, bh_call* call, const char* path, size_t size,
                              const bh_file_access* access) noexcept {
    return with<Files>(b, call, [&](Files& f, Call& c) -> Status {
      if (auto st = fit(view(path, size)); !st) return st;
      return f.set_access(c, view(path, size), FileAccess::of(access));
    });
  }
  static bh_status rename(void* b, bh_call* call, const char* from, size_t from_size,
                          const char* to, size_t to_size, uint32_t flags) noexcept {
    return with<Files>(b, call, [&](Files& f, Call& c) -> Status {
      if (auto st = fit(view(from, from_size), flags, BH_FILE_NEW | BH_FILE_PARENTS); !st) {
        return st;
      }
      if (auto st = fit(view(to, to_size)); !st) return st;
      return f.rename(c, view(from, from_size), view(to, to_size), flags);
    });
  }
  static bh_status remove(void* b, bh_call* call, const char* path, size_t size,
                          uint32_t flags) noexcept {
    return with<Files>(b, call, [&](Files& f, Call& c) -> Status {
      if (auto st = fit(view(path, size), flags, BH_FILE_RECURSIVE); !st) return st;
      return f.remove(c, view(path, size), flags);
    });
  }
  static constexpr bh_isolation_files kTable = {
      sizeof(bh_isolation_files), BH_ABI_MINOR, &stat,   &list,  &read, &write, &make_folder,
      &set_access,                &rename,      &remove,
  };
};

}  // namespace detail
}  // namespace bulkhead::sdk

#endif  // BULKHEAD_SDK_ISOLATION_FILES_HPP
