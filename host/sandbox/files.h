// Files inside a sandbox, by its backend's table bh.isolation.files/1. The host itself touches no path
// of a sandbox: what its rules keep from its commands, the backend keeps from this too.
#pragma once

#include <bulkhead/isolation_files.h>

#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "core/call.h"
#include "core/input.h"
#include "core/sink.h"
#include "sandbox/sandboxes.h"

namespace bh {

// One file as it was found. Names, targets: bytes.
struct SandboxFile {
  std::int32_t kind = BH_FILE_OTHER;
  std::string name;  // relative to what was listed; empty for stat()
  std::string target, owner, group;
  std::int64_t size = 0, modified_ns = 0, created_ns = -1;
  std::uint32_t mode = 0;
};

struct SandboxFileAccess {
  std::uint32_t mode = BH_MODE_KEEP;
  std::string owner, group;
};

// All [any] [blocking]. Paths as path() gives them.
class SandboxFiles {
 public:
  // UNIMPLEMENTED (files_unsupported) where the backend has no table.
  static Result<SandboxFiles> of(std::shared_ptr<Sandbox> sandbox);

  const Sandbox& sandbox() const { return *sandbox_; }
  // As a process inside names it: what is relative begins in the workspace.
  std::string path(const std::string& given) const;

  Result<SandboxFile> stat(Call& up, const std::string& path, bool follow = true) const;
  // `each` ends it by another code than BH_OK: kEnough is a good end.
  static constexpr bh_status kEnough = BH_OUT_OF_RANGE;
  using Each = std::function<bh_status(const SandboxFile&)>;
  Result<void> list(Call& up, const std::string& path, std::uint32_t depth, const Each& each) const;
  // Bytes go to `to` as stream BH_STREAM_DATA. size < 0: to the end.
  Result<void> read(Call& up, const std::string& path, std::int64_t offset, std::int64_t size,
                    Sink& to) const;
  // BH_FILE_* but for INPUT, which is this function's own.
  Result<void> write(Call& up, const std::string& path, std::uint32_t flags,
                     const SandboxFileAccess& access, Input& bytes) const;
  Result<void> write(Call& up, const std::string& path, std::uint32_t flags,
                     const SandboxFileAccess& access, std::string_view bytes) const;
  Result<void> make_folder(Call& up, const std::string& path, std::uint32_t flags,
                           const SandboxFileAccess& access) const;
  Result<void> set_access(Call& up, const std::string& path, const SandboxFileAccess& access) const;
  Result<void> rename(Call& up, const std::string& from, const std::string& to,
                      std::uint32_t flags) const;
  Result<void> remove(Call& up, const std::string& path, std::uint32_t flags) const;

 private:
  SandboxFiles(std::shared_ptr<Sandbox> sandbox, const bh_isolation_files& table)
      : sandbox_(std::move(sandbox)), table_(table) {}
  template <class Function, class F>
  Result<void> run(Call& up, Function function, const char* name, Sink& sink, Input& input,
                   F f) const;

  std::shared_ptr<Sandbox> sandbox_;
  bh_isolation_files table_;
};

}  // namespace bh
