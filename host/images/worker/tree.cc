#include "images/worker/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include "images/worker/path.h"

namespace bh::unpack {
namespace {

constexpr int kPin = O_PATH | O_DIRECTORY | O_NOFOLLOW;

struct CloseDir {
  void operator()(DIR* d) const { ::closedir(d); }
};

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

}  // namespace

Failure write_failed(int number, const std::string& path) {
  if (number == ENAMETOOLONG) {
    return too_large("the name of its entry " + shown(path) + " is too long for this file system",
                     "name");
  }
  if (number == ENOSPC || number == EDQUOT) {
    return fail(BH_RESOURCE_EXHAUSTED, "there is no room left on the disk of the image store",
                "no_space", {{"remedy", "make room, or remove images that are no longer needed"}});
  }
  return fail_errno(number, "unpacking " + shown(path));
}

Result<std::vector<std::string>> names_in(int folder, const std::string& path) {
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::unique_ptr<DIR, CloseDir> dir(copy < 0 ? nullptr : ::fdopendir(copy));
  if (!dir) {
    const int number = errno;
    if (copy >= 0) ::close(copy);
    return write_failed(number, path);
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(dir.get())) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

int open_at(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS;
  const char* name = path.empty() ? "." : path.c_str();
  for (int tries = 0;; tries++) {
    const long fd = ::syscall(SYS_openat2, root, name, &how, sizeof how);
    if (fd >= 0 || errno != EAGAIN || tries == 100) return static_cast<int>(fd);
  }
}

Result<void> remove_tree(int folder, const std::string& name) {
  if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return write_failed(errno, name);
  const Fd child(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!child) return write_failed(errno, name);
  auto names = names_in(child.get(), name);
  if (!names) return tl::unexpected(std::move(names).error());
  for (const std::string& inner : *names) BH_TRY(remove_tree(child.get(), inner));
  if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return write_failed(errno, name);
  }
  return {};
}

void Tree::begin_layer() {
  links_.clear();
  made_.clear();
}

void Tree::made(const std::string& path) {
  if (!layered_) return;
  // With the folders on the way: they hold something of this layer.
  for (std::string at = path; !at.empty() && made_.insert(at).second; at = folder_of(at)) {
  }
}

Result<void> Tree::count() {
  if (++job_.counts.entries <= job_.limits.entries) return {};
  return too_large("it has more than " + std::to_string(job_.limits.entries) + " entries",
                   "entries=" + std::to_string(job_.limits.entries));
}

std::uint32_t Tree::allowed_mode(std::uint32_t mode, std::uint32_t bits) {
  if ((mode & (S_ISUID | S_ISGID)) != 0) job_.counts.set_ids++;
  // Without owners there is no root inside who reads all the same, and somebody has to remove it.
  const std::uint32_t owner = job_.keep_ids ? 0 : (bits & S_ISVTX) != 0 ? 0700 : 0600;
  return (mode & bits) | owner;
}

Result<void> Tree::own(int fd, const char* name, const std::string& path, const Meta& meta) {
  constexpr std::int64_t kMostId = 0xfffffffe;
  if (meta.uid < 0 || meta.uid > kMostId || meta.gid < 0 || meta.gid > kMostId) {
    return broken(path, "its owner is no number that an owner can have");
  }
  if (!job_.keep_ids) return {};
  const int flags = *name == '\0' ? AT_EMPTY_PATH : AT_SYMLINK_NOFOLLOW;
  if (::fchownat(fd, name, static_cast<uid_t>(meta.uid), static_cast<gid_t>(meta.gid), flags) == 0) {
    return {};
  }
  if (errno != EINVAL) return write_failed(errno, path);
  return fail(BH_FAILED_PRECONDITION,
              "the owner of " + shown(path) + " (" + std::to_string(meta.uid) + ":" +
                  std::to_string(meta.gid) + ") does not exist in this user namespace",
              "image_owner",
              {{"remedy", "import as the machine's root, or as an ordinary user, who keeps no owners"}});
}

Result<int> Tree::parent_of(const std::string& path) {
  const std::string folder = folder_of(path);
  if (parent_ && folder == parent_path_) return parent_.get();
  auto opened = open_folder(folder, path);
  if (!opened) return tl::unexpected(std::move(opened).error());
  parent_ = std::move(*opened);
  parent_path_ = folder;
  return parent_.get();
}

Result<Fd> Tree::open_folder(const std::string& path, const std::string& entry) {
  Fd whole(open_at(root_, path, kPin));
  if (whole) return whole;
  if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP) return write_failed(errno, path);
  Fd at(open_at(root_, "", kPin));
  for (std::size_t begin = 0; at && begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    const std::string so_far = path.substr(0, end);
    begin = end + 1;
    Fd next(open_at(at.get(), part, kPin));
    if (!next && (errno == ENOTDIR || errno == ELOOP)) {
      // A link of an earlier layer is hidden by a folder of this one; its own is a trick.
      if (links_.count(so_far) != 0) {
        return unsafe(entry, "would be written through the link " + shown(so_far));
      }
      if (::unlinkat(at.get(), part.c_str(), 0) != 0) return write_failed(errno, so_far);
      errno = ENOENT;
    }
    if (!next && errno == ENOENT) {
      BH_TRY(count());
      if (::mkdirat(at.get(), part.c_str(), 0755) != 0) return write_failed(errno, so_far);
      folders_[so_far] = Meta{};
      next = Fd(open_at(at.get(), part, kPin));
    }
    if (!next) return write_failed(errno, so_far);
    at = std::move(next);
  }
  if (!at) return write_failed(errno, path);
  return at;
}

Result<void> Tree::remove(int folder, const std::string& name, const std::string& path) {
  BH_TRY(remove_tree(folder, name));
  if (parent_path_ == path || parent_path_.compare(0, path.size() + 1, path + "/") == 0) {
    parent_.reset();
  }
  folders_.erase(path);
  // '0' follows '/': all whose paths begin with "path/".
  folders_.erase(folders_.lower_bound(path + "/"), folders_.lower_bound(path + "0"));
  links_.erase(path);
  links_.erase(links_.lower_bound(path + "/"), links_.lower_bound(path + "0"));
  return {};
}

// `name` in `folder` is to be something new. A second entry of the same path counts as the later.
Result<void> Tree::clear_way(int folder, const std::string& path, const std::string& name) {
  if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) {
    links_.erase(path);
    return {};
  }
  if (errno != EISDIR && errno != EPERM) return write_failed(errno, path);
  return remove(folder, name, path);
}

Result<void> Tree::make_folder(const std::string& path, const Meta& meta) {
  BH_TRY(count());
  if (path.empty()) {
    // The store decides who may enter; the times are the image's.
    Meta root;
    root.uid = meta.uid;
    root.gid = meta.gid;
    root.modified = meta.modified;
    folders_[""] = root;
    return {};
  }
  auto folder = parent_of(path);
  if (!folder) return tl::unexpected(std::move(folder).error());
  const std::string name = last_of(path);
  if (::mkdirat(*folder, name.c_str(), 0755) != 0) {
    if (errno != EEXIST) return write_failed(errno, path);
    struct stat st {};
    if (::fstatat(*folder, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) return write_failed(errno, path);
    if (!S_ISDIR(st.st_mode)) {
      BH_TRY(clear_way(*folder, path, name));
      if (::mkdirat(*folder, name.c_str(), 0755) != 0) return write_failed(errno, path);
    }
  }
  Meta kept = meta;
  kept.mode = allowed_mode(meta.mode, 01777);
  folders_[path] = kept;
  made(path);
  return {};
}

Result<void> Tree::make_link(const std::string& path, const std::string& target, const Meta& meta) {
  BH_TRY(count());
  if (target.empty()) return broken(path, "it is a link that leads nowhere");
  auto folder = parent_of(path);
  if (!folder) return tl::unexpected(std::move(folder).error());
  const std::string name = last_of(path);
  BH_TRY(clear_way(*folder, path, name));
  if (::symlinkat(target.c_str(), *folder, name.c_str()) != 0) return write_failed(errno, path);
  BH_TRY(own(*folder, name.c_str(), path, meta));
  const timespec times[2] = {meta.modified, meta.modified};
  if (::utimensat(*folder, name.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0) return write_failed(errno, path);
  links_.insert(path);
  made(path);
  return {};
}

Result<void> Tree::make_name(const std::string& path, const std::string& existing) {
  BH_TRY(count());
  if (path == existing) return {};
  const Fd from(open_at(root_, folder_of(existing), kPin));
  const std::string old = last_of(existing);
  struct stat st {};
  if (!from || ::fstatat(from.get(), old.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ELOOP || errno == ENOTDIR) {
      return unsafe(path, "is a hard link through a link: " + shown(existing));
    }
    return broken(path, "it is a hard link to " + shown(existing) + ", which is not there");
  }
  if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) {
    return broken(path, "it is a hard link to " + shown(existing) + ", which is no file");
  }
  auto folder = parent_of(path);
  if (!folder) return tl::unexpected(std::move(folder).error());
  const std::string name = last_of(path);
  BH_TRY(clear_way(*folder, path, name));
  if (::linkat(from.get(), old.c_str(), *folder, name.c_str(), 0) != 0) return write_failed(errno, path);
  if (S_ISLNK(st.st_mode)) links_.insert(path);
  made(path);
  return {};
}

Result<Fd> Tree::make_file(const std::string& path) {
  BH_TRY(count());
  auto folder = parent_of(path);
  if (!folder) return tl::unexpected(std::move(folder).error());
  const std::string name = last_of(path);
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  Fd file(::openat(*folder, name.c_str(), flags, 0600));
  if (!file && errno == EEXIST) {
    BH_TRY(clear_way(*folder, path, name));
    file = Fd(::openat(*folder, name.c_str(), flags, 0600));
  }
  if (!file) return write_failed(errno, path);
  links_.erase(path);
  made(path);
  return file;
}

Result<void> Tree::close_file(Fd file, const std::string& path, const Meta& meta,
                              std::int64_t size) {
  if (::ftruncate(file.get(), size) != 0) return write_failed(errno, path);
  BH_TRY(own(file.get(), "", path, meta));
  if (::fchmod(file.get(), allowed_mode(meta.mode, 0777)) != 0) return write_failed(errno, path);
  const timespec times[2] = {meta.modified, meta.modified};
  if (::futimens(file.get(), times) != 0) return write_failed(errno, path);
  return {};
}

Result<void> Tree::hide(const std::string& path) {
  const Fd folder(open_at(root_, folder_of(path), kPin));
  if (!folder) {
    // Where there is no such folder there is nothing to hide.
    if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return {};
    return write_failed(errno, path);
  }
  if (made_.count(path) == 0) return remove(folder.get(), last_of(path), path);
  // Of this layer: at most what an earlier one left in it.
  const Fd inside(open_at(root_, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  return inside ? empty(inside.get(), path) : Result<void>();
}

Result<void> Tree::hide_content(const std::string& path) {
  const Fd inside(open_at(root_, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  return inside ? empty(inside.get(), path) : Result<void>();
}

Result<void> Tree::empty(int folder, const std::string& path) {
  auto names = names_in(folder, path);
  if (!names) return tl::unexpected(std::move(names).error());
  for (const std::string& name : *names) {
    const std::string inner = joined(path, name);
    if (made_.count(inner) == 0) {
      BH_TRY(remove(folder, name, inner));
      continue;
    }
    const Fd child(open_at(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    if (child) BH_TRY(empty(child.get(), inner));
  }
  return {};
}

Result<void> Tree::finish() {
  parent_.reset();
  // From the leaves up: a folder may take its owner's own rights away.
  for (auto at = folders_.rbegin(); at != folders_.rend(); ++at) {
    const Fd folder(open_at(root_, at->first, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    if (!folder) return write_failed(errno, at->first);
    const Meta& meta = at->second;
    BH_TRY(own(folder.get(), "", at->first, meta));
    if (::fchmod(folder.get(), meta.mode) != 0) return write_failed(errno, at->first);
    const timespec times[2] = {meta.modified, meta.modified};
    if (::futimens(folder.get(), times) != 0) return write_failed(errno, at->first);
  }
  return {};
}

}  // namespace bh::unpack
