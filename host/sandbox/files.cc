#include "sandbox/files.h"

#include <utility>

#include "loader/tables.h"

namespace bh {
namespace {

std::string text(const bh_str& s) {
  return s.data != nullptr ? std::string(s.data, s.size) : std::string();
}

SandboxFile taken(const bh_file_info* info) {
  const bh_file_info from = copy_table(info);
  SandboxFile file;
  file.kind = from.kind == BH_FILE_REGULAR || from.kind == BH_FILE_DIRECTORY ||
                      from.kind == BH_FILE_SYMLINK
                  ? from.kind
                  : BH_FILE_OTHER;
  file.name = text(from.name);
  file.target = text(from.target);
  file.owner = text(from.owner);
  file.group = text(from.group);
  file.size = from.size;
  file.modified_ns = from.modified_ns;
  file.created_ns = from.created_ns;
  file.mode = from.mode;
  return file;
}

// What a plugin's calls of `each` came to.
struct Taking {
  const SandboxFiles::Each& each;
  bh_status said = BH_OK;

  static bh_status one(void* ctx, const bh_file_info* info) noexcept {
    auto& me = *static_cast<Taking*>(ctx);
    if (me.said == BH_OK) me.said = me.each(taken(info));
    return me.said;
  }
};

bh_file_access raw(const SandboxFileAccess& access) {
  bh_file_access out{};
  out.struct_size = sizeof out;
  out.mode = access.mode;
  out.owner = {access.owner.data(), access.owner.size()};
  out.group = {access.group.data(), access.group.size()};
  return out;
}

}  // namespace

Result<SandboxFiles> SandboxFiles::of(std::shared_ptr<Sandbox> sandbox) {
  const Backend& backend = *sandbox->opened->backend;
  const auto* table =
      static_cast<const bh_isolation_files*>(backend.table().get_extension(BH_ISOLATION_FILES));
  if (table == nullptr) {
    return fail(BH_UNIMPLEMENTED,
                "the backend " + backend.id() + " has no way to the files of its sandboxes",
                "files_unsupported",
                {{"backend", backend.id()},
                 {"remedy", "use commands (sandbox.exec), or another backend"}});
  }
  return SandboxFiles(std::move(sandbox), copy_table(table));
}

std::string SandboxFiles::path(const std::string& given) const {
  if (!given.empty() && given[0] == '/') return given;
  const json::object* workspace = json::get_object(sandbox_->profile, "workspace");
  std::string base = "/";
  if (workspace != nullptr) {
    // Without walls there is one name for it, the host's.
    const bool walls = json::get_bool(sandbox_->opened->backend->provider().capabilities, "isolates",
                                      true);
    const std::string source(json::get_string(*workspace, "source"));
    base = walls ? std::string(json::get_string(*workspace, "path", source)) : source;
  }
  if (given.empty() || given == ".") return base;
  return base.back() == '/' ? base + given : base + "/" + given;
}

template <class Function, class F>
Result<void> SandboxFiles::run(Call& up, Function function, const char* name, Sink& sink,
                               Input& input, F f) const {
  const Backend& backend = *sandbox_->opened->backend;
  if (function == nullptr) {
    return fail(BH_UNIMPLEMENTED,
                "the backend " + backend.id() + " cannot do that with files: " + name,
                "not_offered", {{"backend", backend.id()}});
  }
  auto done = drive(up, backend.host(), backend.who(name), sink, input, [&](bh_call* call) {
    return f(function, sandbox_->handle, call);
  });
  if (!done) return tl::unexpected(std::move(done).error());
  return {};
}

Result<SandboxFile> SandboxFiles::stat(Call& up, const std::string& path, bool follow) const {
  NullSink nowhere;
  NoInput none;
  int count = 0;
  SandboxFile found;
  const Each each = [&](const SandboxFile& file) -> bh_status {
    found = file;
    ++count;
    return BH_OK;
  };
  Taking taking{each};
  BH_TRY(run(up, table_.stat, "stat", nowhere, none, [&](auto f, void* box, bh_call* call) {
    return f(box, call, path.data(), path.size(), follow ? 0 : BH_FILE_NO_FOLLOW, &Taking::one,
             &taking);
  }));
  if (count == 1) return found;
  return fail(BH_INTERNAL, sandbox_->opened->backend->who("stat") + " gave no file, or several",
              "plugin_misuse");
}

Result<void> SandboxFiles::list(Call& up, const std::string& path, std::uint32_t depth,
                                const Each& each) const {
  NullSink nowhere;
  NoInput none;
  Taking taking{each};
  auto done = run(up, table_.list, "list", nowhere, none, [&](auto f, void* box, bh_call* call) {
    return f(box, call, path.data(), path.size(), depth, &Taking::one, &taking);
  });
  if (taking.said == kEnough) return {};
  if (taking.said != BH_OK) return tl::unexpected(stop_error(taking.said));
  return done;
}

Result<void> SandboxFiles::read(Call& up, const std::string& path, std::int64_t offset,
                                std::int64_t size, Sink& to) const {
  NoInput none;
  return run(up, table_.read, "read", to, none, [&](auto f, void* box, bh_call* call) {
    return f(box, call, path.data(), path.size(), offset, size);
  });
}

Result<void> SandboxFiles::write(Call& up, const std::string& path, std::uint32_t flags,
                                 const SandboxFileAccess& access, Input& bytes) const {
  NullSink nowhere;
  const bh_file_access how = raw(access);
  return run(up, table_.write, "write", nowhere, bytes, [&](auto f, void* box, bh_call* call) {
    return f(box, call, path.data(), path.size(), flags | BH_FILE_INPUT, &how, nullptr, 0);
  });
}

Result<void> SandboxFiles::write(Call& up, const std::string& path, std::uint32_t flags,
                                 const SandboxFileAccess& access, std::string_view bytes) const {
  NullSink nowhere;
  NoInput none;
  const bh_file_access how = raw(access);
  return run(up, table_.write, "write", nowhere, none, [&](auto f, void* box, bh_call* call) {
    return f(box, call, path.data(), path.size(), flags, &how, bytes.data(), bytes.size());
  });
}

Result<void> SandboxFiles::make_folder(Call& up, const std::string& path, std::uint32_t flags,
                                       const SandboxFileAccess& access) const {
  NullSink nowhere;
  NoInput none;
  const bh_file_access how = raw(access);
  return run(up, table_.make_folder, "make_folder", nowhere, none,
             [&](auto f, void* box, bh_call* call) {
               return f(box, call, path.data(), path.size(), flags, &how);
             });
}

Result<void> SandboxFiles::set_access(Call& up, const std::string& path,
                                      const SandboxFileAccess& access) const {
  NullSink nowhere;
  NoInput none;
  const bh_file_access how = raw(access);
  return run(up, table_.set_access, "set_access", nowhere, none,
             [&](auto f, void* box, bh_call* call) {
               return f(box, call, path.data(), path.size(), &how);
             });
}

Result<void> SandboxFiles::rename(Call& up, const std::string& from, const std::string& to,
                                  std::uint32_t flags) const {
  NullSink nowhere;
  NoInput none;
  return run(up, table_.rename, "rename", nowhere, none, [&](auto f, void* box, bh_call* call) {
    return f(box, call, from.data(), from.size(), to.data(), to.size(), flags);
  });
}

Result<void> SandboxFiles::remove(Call& up, const std::string& path, std::uint32_t flags) const {
  NullSink nowhere;
  NoInput none;
  return run(up, table_.remove, "remove", nowhere, none, [&](auto f, void* box, bh_call* call) {
    return f(box, call, path.data(), path.size(), flags);
  });
}

}  // namespace bh
