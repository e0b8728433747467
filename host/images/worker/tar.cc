#include "images/worker/tar.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>

#include "images/worker/path.h"
#include "images/worker/report.h"

namespace bh::unpack {
namespace {

constexpr std::string_view kWhiteout = ".wh.";
constexpr std::string_view kOpaque = ".wh..wh.opq";

// The stream as libarchive pulls it; what went wrong below is kept, since libarchive has room for a
// text alone.
struct Pull {
  Stream& stream;
  std::optional<Error> error;

  static la_ssize_t read(archive* a, void* self, const void** data) {
    Pull& pull = *static_cast<Pull*>(self);
    auto bytes = pull.stream.read();
    if (!bytes) {
      pull.error = std::move(bytes).error();
      ::archive_set_error(a, EIO, "%s", "the stream ended early");
      return -1;
    }
    *data = bytes->data();
    return static_cast<la_ssize_t>(bytes->size());
  }
};

class Tar {
 public:
  Tar(Stream& stream, Tree& tree, Job& job, TarKind kind)
      : pull_{stream, {}}, tree_(tree), job_(job), kind_(kind),
        archive_(::archive_read_new(), [](archive* a) { ::archive_read_free(a); }) {}

  Result<void> run() {
    archive* a = archive_.get();
    (void)::archive_read_support_format_tar(a);
    archive_entry* entry = nullptr;
    int st = ::archive_read_open(a, &pull_, nullptr, Pull::read, nullptr);
    if (st != ARCHIVE_OK) return pull_.error ? failed({}) : no_tar();
    for (bool first = true;; first = false) {
      st = ::archive_read_next_header(a, &entry);
      if (st == ARCHIVE_EOF) break;
      if (first && st == ARCHIVE_FATAL && !pull_.error) return no_tar();
      if (st != ARCHIVE_OK && st != ARCHIVE_WARN) return failed({});
      BH_TRY(take(entry));
      report_progress(job_.counts);
    }
    return pull_.stream.drain();
  }

 private:
  Result<void> failed(const std::string& entry) {
    if (pull_.error) return tl::unexpected(*pull_.error);
    const char* text = ::archive_error_string(archive_.get());
    return broken(entry, text != nullptr ? text : "it cannot be read");
  }

  static Failure no_tar() {
    return fail(BH_INVALID_ARGUMENT,
                "this is no image: it is neither a tar (plain, or compressed with gzip, bzip2, xz, "
                "lzma, zstd, lz4 or compress) nor a folder",
                "image_format",
                {{"remedy", "import a folder, an OCI layout, what `docker save` writes, or a tar of a root "
                            "file system"}});
  }

  static std::string_view name_of(archive_entry* entry) {
    // Without a conversion where the name was none of this locale's: then its bytes as UTF-8.
    const char* name = ::archive_entry_pathname(entry);
    if (name == nullptr) name = ::archive_entry_pathname_utf8(entry);
    return name != nullptr ? std::string_view(name) : std::string_view();
  }

  static std::string_view target_of(const char* bytes, const char* utf8) {
    const char* name = bytes != nullptr ? bytes : utf8;
    return name != nullptr ? std::string_view(name) : std::string_view();
  }

  Meta meta_of(archive_entry* entry) const {
    Meta meta;
    meta.mode = static_cast<std::uint32_t>(::archive_entry_perm(entry));
    meta.uid = ::archive_entry_uid(entry);
    meta.gid = ::archive_entry_gid(entry);
    if (::archive_entry_mtime_is_set(entry) != 0) {
      meta.modified.tv_sec = ::archive_entry_mtime(entry);
      meta.modified.tv_nsec = ::archive_entry_mtime_nsec(entry);
    }
    return meta;
  }

  Result<void> take(archive_entry* entry) {
    const std::string_view name = name_of(entry);
    if (name.empty()) return broken({}, "an entry has no name");
    auto path = clean_path(name, job_.limits.depth);
    if (!path) return tl::unexpected(std::move(path).error());
    if (::archive_entry_xattr_count(entry) > 0 || ::archive_entry_acl_types(entry) != 0) {
      job_.counts.xattrs++;
    }
    if (kind_ == TarKind::kLayer && !path->empty()) {
      const std::string last = last_of(*path);
      if (last.compare(0, kWhiteout.size(), kWhiteout) == 0) return whiteout(*path, last);
    }
    const mode_t type = ::archive_entry_filetype(entry);
    if (path->empty()) {
      if (type == AE_IFDIR) return tree_.make_folder(*path, meta_of(entry));
      return unsafe(name, "would take the place of the root");
    }
    if (const char* to = ::archive_entry_hardlink(entry);
        to != nullptr || ::archive_entry_hardlink_utf8(entry) != nullptr) {
      auto existing =
          clean_path(target_of(to, ::archive_entry_hardlink_utf8(entry)), job_.limits.depth);
      if (!existing) return tl::unexpected(std::move(existing).error());
      if (existing->empty()) return unsafe(name, "is a hard link to the root");
      return tree_.make_name(*path, *existing);
    }
    switch (type) {
      case AE_IFDIR:
        return tree_.make_folder(*path, meta_of(entry));
      case AE_IFLNK: {
        const std::string_view to =
            target_of(::archive_entry_symlink(entry), ::archive_entry_symlink_utf8(entry));
        return tree_.make_link(*path, std::string(to), meta_of(entry));
      }
      case AE_IFREG:
        return file(entry, *path);
      default:
        job_.counts.devices++;
        return {};
    }
  }

  Result<void> whiteout(const std::string& path, const std::string& last) {
    const std::string folder = folder_of(path);
    if (last == kOpaque) return tree_.hide_content(folder);
    const std::string hidden = last.substr(kWhiteout.size());
    // ".wh..wh.plnk" and its like are bookkeeping of the file system that this comes from.
    if (hidden.compare(0, kWhiteout.size(), kWhiteout) == 0) return {};
    if (hidden.empty() || hidden == "." || hidden == "..") {
      return unsafe(path, "is a whiteout of no file");
    }
    return tree_.hide(folder.empty() ? hidden : folder + "/" + hidden);
  }

  Result<void> file(archive_entry* entry, const std::string& path) {
    const std::int64_t size = ::archive_entry_size(entry);
    if (size < 0) return broken(path, "its size is negative");
    BH_TRY(check_size(path, size, job_.counts.bytes));
    auto file = tree_.make_file(path);
    if (!file) return tl::unexpected(std::move(file).error());
    for (;;) {
      const void* data = nullptr;
      std::size_t got = 0;
      la_int64_t offset = 0;
      const int st = ::archive_read_data_block(archive_.get(), &data, &got, &offset);
      if (st == ARCHIVE_EOF) break;
      if (st != ARCHIVE_OK && st != ARCHIVE_WARN) return failed(path);
      const auto end = static_cast<std::int64_t>(offset) + static_cast<std::int64_t>(got);
      if (offset < 0 || end > size) return broken(path, "it has data beyond its end");
      job_.counts.bytes += static_cast<std::int64_t>(got);
      BH_TRY(check_size(path, end, job_.counts.bytes));
      BH_TRY(write_at(file->get(), path, static_cast<const char*>(data), got, offset));
      report_progress(job_.counts);
    }
    return tree_.close_file(std::move(*file), path, meta_of(entry), size);
  }

  Result<void> check_size(const std::string& path, std::int64_t size, std::int64_t all) const {
    const std::int64_t limit = job_.limits.bytes;
    const std::string named = "bytes=" + std::to_string(limit);
    if (size > limit) {
      return too_large("its entry " + shown(path) + " is " + std::to_string(size) +
                           " bytes long, and no more than " + std::to_string(limit) + " are taken",
                       named);
    }
    if (all > limit) {
      return too_large("it holds more than " + std::to_string(limit) + " bytes", named);
    }
    return {};
  }

  static Result<void> write_at(int fd, const std::string& path, const char* data, std::size_t size,
                               std::int64_t offset) {
    while (size > 0) {
      const ssize_t n = ::pwrite(fd, data, size, offset);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return write_failed(errno, path);
      data += n;
      offset += n;
      size -= static_cast<std::size_t>(n);
    }
    return {};
  }

  Pull pull_;
  Tree& tree_;
  Job& job_;
  const TarKind kind_;
  std::unique_ptr<archive, void (*)(archive*)> archive_;
};

}  // namespace

Result<void> unpack_tar(Stream& stream, Tree& tree, Job& job, TarKind kind) {
  return Tar(stream, tree, job, kind).run();
}

}  // namespace bh::unpack
