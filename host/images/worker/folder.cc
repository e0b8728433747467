#include "images/worker/folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "images/worker/hash.h"
#include "images/worker/path.h"
#include "images/worker/report.h"

namespace bh::unpack {
namespace {

using Inode = std::pair<dev_t, ino_t>;

Failure read_failed(int number, const std::string& path) {
  return fail_errno(number, "reading " + shown(path));
}

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

Result<std::string> link_target(int folder, const std::string& name, const std::string& path) {
  std::string target(4096, '\0');
  const ssize_t n = ::readlinkat(folder, name.c_str(), target.data(), target.size());
  if (n < 0) return read_failed(errno, path);
  target.resize(static_cast<std::size_t>(n));
  return target;
}

class Copier {
 public:
  Copier(Tree& tree, Job& job) : tree_(tree), job_(job), buffer_(256u << 10) {}

  Result<void> run(int source) {
    struct stat st {};
    if (::fstat(source, &st) != 0) return read_failed(errno, ".");
    device_ = st.st_dev;
    BH_TRY(tree_.make_folder({}, meta_of(st)));
    return folder(source, {}, 0);
  }

 private:
  static Meta meta_of(const struct stat& st) {
    Meta meta;
    meta.mode = st.st_mode & 07777u;
    meta.uid = st.st_uid;
    meta.gid = st.st_gid;
    meta.modified = st.st_mtim;
    return meta;
  }

  Result<void> folder(int source, const std::string& path, int depth) {
    if (depth > job_.limits.depth) {
      return too_large("its folder " + shown(path) + " lies more than " +
                           std::to_string(job_.limits.depth) + " folders deep",
                       "depth=" + std::to_string(job_.limits.depth));
    }
    auto names = names_in(source, path);
    if (!names) return tl::unexpected(std::move(names).error());
    for (const std::string& name : *names) {
      BH_TRY(entry(source, name, joined(path, name), depth));
      report_progress(job_.counts);
    }
    return {};
  }

  Result<void> entry(int source, const std::string& name, const std::string& path, int depth) {
    struct stat st {};
    if (::fstatat(source, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) return read_failed(errno, path);
    if (S_ISLNK(st.st_mode)) {
      auto target = link_target(source, name, path);
      if (!target) return tl::unexpected(std::move(target).error());
      return tree_.make_link(path, *target, meta_of(st));
    }
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) {
      job_.counts.devices++;
      return {};
    }
    // By its name again: what another put there meanwhile is looked at anew.
    const int flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | (S_ISDIR(st.st_mode) ? O_DIRECTORY : 0);
    const Fd opened(open_at(source, name, flags));
    if (!opened || ::fstat(opened.get(), &st) != 0) return read_failed(errno, path);
    if (::flistxattr(opened.get(), nullptr, 0) > 0) job_.counts.xattrs++;
    if (S_ISDIR(st.st_mode)) {
      BH_TRY(tree_.make_folder(path, meta_of(st)));
      return st.st_dev == device_ ? folder(opened.get(), path, depth + 1) : Result<void>();
    }
    return S_ISREG(st.st_mode) ? file(opened.get(), path, st) : Result<void>();
  }

  Result<void> file(int source, const std::string& path, const struct stat& st) {
    if (st.st_nlink > 1) {
      auto [first, fresh] = names_.emplace(Inode{st.st_dev, st.st_ino}, path);
      if (!fresh) return tree_.make_name(path, first->second);
    }
    auto made = tree_.make_file(path);
    if (!made) return tl::unexpected(std::move(made).error());
    std::int64_t size = 0;
    while (size < st.st_size) {
      // Holes stay holes; where the file system knows of none, all is data.
      std::int64_t data = ::lseek(source, size, SEEK_DATA);
      if (data < 0 && errno == ENXIO) break;
      if (data < 0) data = size;
      std::int64_t hole = ::lseek(source, data, SEEK_HOLE);
      if (hole < 0) hole = st.st_size;
      auto end = piece(source, made->get(), path, data, hole);
      if (!end) return tl::unexpected(std::move(end).error());
      size = *end;
      if (*end < hole) break;  // it was cut short meanwhile
    }
    size = std::max<std::int64_t>(size, st.st_size);
    if (size > job_.limits.bytes) return full();
    return tree_.close_file(std::move(*made), path, meta_of(st), size);
  }

  // Where the data ended.
  Result<std::int64_t> piece(int from, int to, const std::string& path, std::int64_t at,
                             std::int64_t end) {
    while (at < end) {
      const auto most = static_cast<std::size_t>(
          std::min<std::int64_t>(end - at, static_cast<std::int64_t>(buffer_.size())));
      const ssize_t got = ::pread(from, buffer_.data(), most, at);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return read_failed(errno, path);
      if (got == 0) break;
      job_.counts.bytes += got;
      if (job_.counts.bytes > job_.limits.bytes) return full();
      for (ssize_t done = 0; done < got;) {
        const ssize_t n =
            ::pwrite(to, buffer_.data() + done, static_cast<std::size_t>(got - done), at + done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return write_failed(errno, path);
        done += n;
      }
      at += got;
      report_progress(job_.counts);
    }
    return at;
  }

  Failure full() const {
    return too_large("it holds more than " + std::to_string(job_.limits.bytes) + " bytes",
                     "bytes=" + std::to_string(job_.limits.bytes));
  }

  Tree& tree_;
  Job& job_;
  dev_t device_ = 0;
  std::map<Inode, std::string> names_;
  std::vector<char> buffer_;
};

class Surveyor {
 public:
  explicit Surveyor(bool with_digest) : digest_(with_digest) {}

  Result<Survey> run(int root) {
    add("bulkhead-tree/1");
    BH_TRY(folder(root, {}));
    if (digest_) out_.digest = hash_.digest();
    return out_;
  }

 private:
  // A field, which no other list of fields can look like: its length comes first.
  void add(std::string_view text) {
    const std::string size = std::to_string(text.size()) + ":";
    hash_.add(size.data(), size.size());
    hash_.add(text.data(), text.size());
  }

  Result<void> folder(int root, const std::string& path) {
    auto names = names_in(root, path);
    if (!names) return tl::unexpected(std::move(names).error());
    for (const std::string& name : *names) BH_TRY(entry(root, name, joined(path, name)));
    return {};
  }

  Result<void> entry(int root, const std::string& name, const std::string& path) {
    struct stat st {};
    if (::fstatat(root, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) return read_failed(errno, path);
    out_.entries++;
    const bool several = !S_ISDIR(st.st_mode) && st.st_nlink > 1;
    const auto [first, fresh] =
        several ? names_.emplace(Inode{st.st_dev, st.st_ino}, path) : std::pair{names_.end(), true};
    if (fresh) out_.bytes += std::int64_t{st.st_blocks} * 512;
    if (digest_) {
      add(path);
      if (!fresh) {
        add("=");
        add(first->second);
        return {};
      }
      add(std::to_string(st.st_mode) + " " + std::to_string(st.st_uid) + " " +
          std::to_string(st.st_gid));
      BH_TRY(content(root, name, path, st));
    }
    if (!S_ISDIR(st.st_mode)) return {};
    const Fd inner(open_at(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    if (!inner) return read_failed(errno, path);
    return folder(inner.get(), path);
  }

  Result<void> content(int root, const std::string& name, const std::string& path,
                       const struct stat& st) {
    if (S_ISLNK(st.st_mode)) {
      auto target = link_target(root, name, path);
      if (!target) return tl::unexpected(std::move(target).error());
      add(*target);
    }
    if (!S_ISREG(st.st_mode)) return {};
    const Fd file(open_at(root, name, O_RDONLY | O_NOFOLLOW));
    if (!file) return read_failed(errno, path);
    Hash hash;
    std::vector<char> buffer(256u << 10);
    for (;;) {
      const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return read_failed(errno, path);
      if (got == 0) break;
      hash.add(buffer.data(), static_cast<std::size_t>(got));
    }
    add(hash.digest());
    return {};
  }

  const bool digest_;
  Survey out_;
  Hash hash_;
  std::map<Inode, std::string> names_;
};

}  // namespace

Result<void> copy_folder(int source, Tree& tree, Job& job) { return Copier(tree, job).run(source); }

Result<Survey> survey(int root, bool with_digest) { return Surveyor(with_digest).run(root); }

}  // namespace bh::unpack
