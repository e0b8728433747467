// bulkhead/sdk/isolation/files_worker.hpp - serves a host's requests about files from inside a
// sandbox, in the place of a command: with the rights of one, so that the kernel decides what may be
// read and written, and no path has to be judged. Runs no program. No SDK types here.
#ifndef BULKHEAD_SDK_ISOLATION_FILES_WORKER_HPP
#define BULKHEAD_SDK_ISOLATION_FILES_WORKER_HPP

#include <dirent.h>
#include <signal.h>
#include <sys/sysmacros.h>

#include <new>
#include <vector>

#include "files_new.hpp"
#include "files_protocol.hpp"
#include "tree_remove.hpp"

namespace bulkhead::sdk::isolation::files {

class Worker {
 public:
  Worker(int in, int out) : in_(in), out_(out) {}

  // Until the host closes the pipe.
  void serve() {
    uint32_t kind = 0;
    while (receive(kind)) {
      Request request;
      Outcome outcome;
      users_ = Names("/etc/passwd");
      groups_ = Names("/etc/group");
      if (kind != kRequest || !decode(body_, request)) return;
      try {
        outcome.error = static_cast<uint32_t>(run(request, outcome));
      } catch (const std::bad_alloc&) {
        outcome.error = ENOMEM;
      }
      if (lost_ || !send(outcome.error == 0 ? kDone : kFailed, encode(outcome)) || !flush()) return;
    }
  }

 private:
  // 0, an errno or a Trouble.
  int run(const Request& r, Outcome& outcome) {
    switch (r.act) {
      case kStat:
        return stat(r);
      case kList:
        return list(r);
      case kRead:
        return read(r);
      case kWrite:
        return write(r, outcome);
      case kMakeFolder:
        return make_folder(r);
      case kSetAccess:
        return set_access(r);
      case kRename:
        return rename(r);
      case kRemove:
        return remove(r);
      default:
        return kBadRequest;
    }
  }

  // ---- looking

  int fill(int folder, const char* path, bool follow, Info& info) {
    struct statx st {};
    const int flags = AT_NO_AUTOMOUNT | (follow ? 0 : AT_SYMLINK_NOFOLLOW);
    if (::statx(folder, path, flags, STATX_BASIC_STATS | STATX_BTIME, &st) != 0) return errno;
    const uint32_t type = st.stx_mode & S_IFMT;
    info.kind = type == S_IFREG ? 1 : type == S_IFDIR ? 2 : type == S_IFLNK ? 3 : 0;
    info.mode = st.stx_mode & 07777;
    info.size = st.stx_size;
    auto ns = [](const statx_timestamp& t) { return t.tv_sec * 1000000000 + int64_t{t.tv_nsec}; };
    info.modified_ns = ns(st.stx_mtime);
    info.created_ns = (st.stx_mask & STATX_BTIME) != 0 ? ns(st.stx_btime) : -1;
    info.owner = users_.name(st.stx_uid);
    info.group = groups_.name(st.stx_gid);
    if (type != S_IFLNK) return 0;
    char target[PATH_MAX + 1];
    const ssize_t n = ::readlinkat(folder, path, target, sizeof target);
    if (n > 0) info.target.assign(target, static_cast<size_t>(n));
    return 0;
  }
  int stat(const Request& r) {
    Info info;
    const int error = fill(AT_FDCWD, r.path.c_str(), (r.flags & kNoFollow) == 0, info);
    if (error == 0) (void)send(kInfo, encode(info));
    return error;
  }
  int list(const Request& r) {
    const Fd top(::open(r.path.c_str(), O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC));
    return top ? list_folder(top.get(), "", r.depth) : errno;
  }
  int list_folder(int folder, const std::string& before, uint32_t depth) {
    const int own = ::fcntl(folder, F_DUPFD_CLOEXEC, 3);
    DIR* d = own >= 0 ? ::fdopendir(own) : nullptr;
    if (d == nullptr) return errno;
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(d)) names.emplace_back(entry->d_name);
    ::closedir(d);
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      if (name == "." || name == "..") continue;
      Info info;
      if (fill(folder, name.c_str(), false, info) != 0) continue;  // gone meanwhile
      info.name = before + name;
      if (!send(kInfo, encode(info))) return EPIPE;
      // Deeper than this no path leads.
      if (info.kind != 2 || depth <= 1 || info.name.size() >= PATH_MAX) continue;
      const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
      const Fd inner(::openat(folder, name.c_str(), flags));
      if (!inner && (errno == EMFILE || errno == ENFILE || errno == ENAMETOOLONG)) return errno;
      // What may not be looked into is a line of the list all the same.
      if (!inner) continue;
      if (const int error = list_folder(inner.get(), info.name + "/", depth - 1)) return error;
    }
    return 0;
  }
  // Devices and pipes are not even opened: that alone may do something, or wait.
  int open_regular(const std::string& path, Fd& fd, struct stat& st) {
    if (::stat(path.c_str(), &st) != 0) return errno;
    if (S_ISDIR(st.st_mode)) return EISDIR;
    if (!S_ISREG(st.st_mode)) return kNotAFile;
    fd.reset(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!fd || ::fstat(fd.get(), &st) != 0) return errno;
    return S_ISREG(st.st_mode) ? 0 : static_cast<int>(kNotAFile);
  }
  int read(const Request& r) {
    Fd fd;
    struct stat st {};
    if (const int error = open_regular(r.path, fd, st)) return error;
    if (r.offset > INT64_MAX) return EINVAL;
    std::string buffer(kChunk, '\0');
    uint64_t left = r.size;
    for (auto at = static_cast<off_t>(r.offset); left != 0;) {
      const auto want = static_cast<size_t>(std::min<uint64_t>(left, kChunk));
      const ssize_t n = ::pread(fd.get(), buffer.data(), want, at);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno;
      if (n == 0) break;
      if (!send(kData, std::string_view(buffer.data(), static_cast<size_t>(n)))) return EPIPE;
      at += n;
      left -= static_cast<uint64_t>(n);
    }
    return 0;
  }

  // ---- changing

  // Who is to own it; UINT32_MAX: as it is.
  int owners(const Request& r, uint32_t& uid, uint32_t& gid) {
    uid = gid = UINT32_MAX;
    if (!r.owner.empty() && !users_.number(r.owner, uid)) return kNoOwner;
    if (!r.group.empty() && !groups_.number(r.group, gid)) return kNoOwner;
    return 0;
  }
  template <class Change>
  static int change_owner(uint32_t uid, uint32_t gid, const struct stat& now, Change change) {
    if ((uid == UINT32_MAX || uid == now.st_uid) && (gid == UINT32_MAX || gid == now.st_gid)) {
      return 0;
    }
    if (change(uid, gid) == 0) return 0;
    return errno == EPERM || errno == EINVAL ? static_cast<int>(kNoOwner) : errno;
  }
  int give_access(const Request& r, int fd, uint32_t mode) {
    uint32_t uid = 0, gid = 0;
    struct stat st {};
    if (const int error = owners(r, uid, gid)) return error;
    if (::fstat(fd, &st) != 0) return errno;
    const int error = change_owner(uid, gid, st, [&](uint32_t u, uint32_t g) {
      return ::fchown(fd, u, g);
    });
    if (error != 0) return error;
    return ::fchmod(fd, mode & 07777) == 0 ? 0 : errno;
  }
  int set_access(const Request& r) {
    uint32_t uid = 0, gid = 0;
    struct stat st {};
    if (const int error = owners(r, uid, gid)) return error;
    if (::stat(r.path.c_str(), &st) != 0) return errno;
    const int error = change_owner(uid, gid, st, [&](uint32_t u, uint32_t g) {
      return ::chown(r.path.c_str(), u, g);
    });
    if (error != 0) return error;
    if (r.mode == kKeepMode) return 0;
    return ::chmod(r.path.c_str(), r.mode & 07777) == 0 ? 0 : errno;
  }

  int write(const Request& r, Outcome& outcome) {
    Place p;
    if (const int error = p.find(r.path, (r.flags & kParents) != 0)) return error;
    if ((r.flags & (kNew | kNoFollow)) == 0) {
      if (const int error = p.follow()) return error;
    }
    if (!p.has_name() || p.must_be_folder()) return EISDIR;
    struct stat old {};
    const bool there = ::fstatat(p.folder.get(), p.name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
    if (!there && errno != ENOENT) return errno;
    if (there && (r.flags & kNew) != 0) return EEXIST;
    if (there && S_ISDIR(old.st_mode)) return EISDIR;
    if (there && !S_ISREG(old.st_mode) && !S_ISLNK(old.st_mode)) return kNotAFile;
    // What a command could not write is not replaced either, though its folder would allow that.
    if (there && S_ISREG(old.st_mode) &&
        ::faccessat(p.folder.get(), p.name.c_str(), W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) != 0) {
      return errno;
    }
    const bool regular = there && S_ISREG(old.st_mode);
    const uint32_t mode = r.mode != kKeepMode ? r.mode : regular ? old.st_mode & 0777 : 0644;
    if ((r.flags & kAppend) != 0) return append(r, p, there, mode, outcome);
    NewFile file;
    if (const int error = file.open(p.folder.get())) return error;
    if (const int error = give_access(r, file.fd(), mode)) return error;
    if (const int error = take_bytes(file.fd())) return error;
    if (const int error = file.place(p.name, (r.flags & kNew) == 0)) return error;
    return tell_size(file.fd(), outcome);
  }
  int append(const Request& r, const Place& p, bool there, uint32_t mode, Outcome& outcome) {
    const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    const Fd fd(::openat(p.folder.get(), p.name.c_str(), flags | (there ? 0 : O_CREAT | O_EXCL),
                         0600));
    if (!fd) return errno == ENXIO ? static_cast<int>(kNotAFile) : errno;
    struct stat st {};
    if (::fstat(fd.get(), &st) != 0) return errno;
    if (!S_ISREG(st.st_mode)) return kNotAFile;
    if (!there || r.mode != kKeepMode || !r.owner.empty() || !r.group.empty()) {
      if (const int error = give_access(r, fd.get(), mode)) return error;
    }
    if (const int error = take_bytes(fd.get())) return error;
    return ::fsync(fd.get()) != 0 ? errno : tell_size(fd.get(), outcome);
  }
  static int tell_size(int fd, Outcome& outcome) {
    struct stat st {};
    if (::fstat(fd, &st) != 0) return errno;
    outcome.size = static_cast<uint64_t>(st.st_size);
    return 0;
  }
  // The bytes of a write. After a failure the rest is taken and dropped, up to its end.
  int take_bytes(int fd) {
    if (!send(kReady, {}) || !flush()) return EPIPE;
    int error = 0;
    for (uint32_t kind = 0;;) {
      if (!receive(kind) || (kind != kData && kind != kEnd)) {
        lost_ = true;
        return EPIPE;
      }
      if (kind == kEnd) return error;
      if (error != 0 || write_all(fd, body_)) continue;
      error = errno;
      if (!send(kFailed, encode(Outcome{static_cast<uint32_t>(error), 0})) || !flush()) lost_ = true;
      told_ = true;
    }
  }

  int make_folder(const Request& r) {
    Place p;
    if (const int error = p.find(r.path, (r.flags & kParents) != 0)) return error;
    const bool parents = (r.flags & kParents) != 0;
    const uint32_t mode = r.mode != kKeepMode ? r.mode & 07777 : 0755;
    const bool made = p.has_name() && ::mkdirat(p.folder.get(), p.name.c_str(), 0700) == 0;
    if (!made && p.has_name() && errno != EEXIST) return errno;
    if (!made && !parents) return EEXIST;
    const bool plain = r.mode == kKeepMode && r.owner.empty() && r.group.empty();
    const Fd fd(::openat(p.folder.get(), p.name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd && !made && plain && errno == EACCES) return 0;
    if (!fd) return errno;
    if (!made && plain) return 0;
    struct stat st {};
    if (::fstat(fd.get(), &st) != 0) return errno;
    return give_access(r, fd.get(), made || r.mode != kKeepMode ? mode : st.st_mode);
  }
  int rename(const Request& r) {
    Place from, to;
    if (const int error = from.find(r.path)) return error;
    if (const int error = to.find(r.to, (r.flags & kParents) != 0)) return error;
    if (!from.has_name() || !to.has_name()) return kRootItself;
    struct stat st {};
    if (::fstatat(from.folder.get(), from.name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) return errno;
    if ((from.must_be_folder() || to.must_be_folder()) && !S_ISDIR(st.st_mode)) return ENOTDIR;
    const bool replace = (r.flags & kNew) == 0;
    if (NewFile::rename_at(from.folder.get(), from.name, to.folder.get(), to.name, replace) == 0) {
      return 0;
    }
    if (errno != EXDEV || !S_ISREG(st.st_mode)) return errno;
    return move_across(from, to, st, replace);
  }
  // Two file systems: a copy takes the new place, then the old one goes.
  int move_across(const Place& from, const Place& to, struct stat& st, bool replace) {
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    const Fd source(::openat(from.folder.get(), from.name.c_str(), flags));
    if (!source || ::fstat(source.get(), &st) != 0) return errno;
    if (!S_ISREG(st.st_mode)) return kNotAFile;
    NewFile file;
    if (const int error = file.open(to.folder.get())) return error;
    if (::fchmod(file.fd(), st.st_mode & 0777) != 0) return errno;
    std::string buffer(kChunk, '\0');
    for (;;) {
      const ssize_t n = ::read(source.get(), buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno;
      if (n == 0) break;
      if (!write_all(file.fd(), std::string_view(buffer.data(), static_cast<size_t>(n)))) {
        return errno;
      }
    }
    const timespec times[2] = {st.st_atim, st.st_mtim};
    (void)::futimens(file.fd(), times);
    if (const int error = file.place(to.name, replace)) return error;
    return ::unlinkat(from.folder.get(), from.name.c_str(), 0) == 0 ? 0 : errno;
  }
  int remove(const Request& r) {
    Place p;
    if (const int error = p.find(r.path)) return error;
    if (!p.has_name()) return kRootItself;
    struct stat st {};
    if (::fstatat(p.folder.get(), p.name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) return errno;
    if (!S_ISDIR(st.st_mode)) {
      if (p.must_be_folder()) return ENOTDIR;
      return ::unlinkat(p.folder.get(), p.name.c_str(), 0) == 0 ? 0 : errno;
    }
    if ((r.flags & kRecursive) == 0) return EISDIR;
    // What may not go itself (a mount, a folder in a read-only one) keeps what it holds.
    if (::unlinkat(p.folder.get(), p.name.c_str(), AT_REMOVEDIR) == 0) return 0;
    if (errno == EBUSY || errno == EROFS || errno == EACCES || errno == EPERM) return errno;
    if (remove_tree(p.folder.get(), p.name)) return 0;
    return errno != 0 ? errno : ENOTEMPTY;
  }

  // ---- frames

  bool take(char* to, size_t size) {
    while (size != 0) {
      const ssize_t n = ::read(in_, to, size);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      to += n;
      size -= static_cast<size_t>(n);
    }
    return true;
  }
  // Into body_. False: the host is gone, or speaks another language.
  bool receive(uint32_t& kind) {
    FrameHead head;
    if (!take(reinterpret_cast<char*>(&head), sizeof head) || head.size > kMostBody) return false;
    kind = head.kind;
    body_.resize(head.size);
    return take(body_.data(), head.size);
  }
  bool send(FrameKind kind, std::string_view body) {
    // Of a write that failed halfway was told already.
    if (kind == kFailed && told_) {
      told_ = false;
      return true;
    }
    const FrameHead head{static_cast<uint32_t>(body.size()), kind};
    pending_.append(reinterpret_cast<const char*>(&head), sizeof head).append(body);
    return pending_.size() < kChunk || flush();
  }
  bool flush() {
    const bool ok = write_all(out_, pending_);
    pending_.clear();
    return ok;
  }

  const int in_, out_;
  Names users_{"/etc/passwd"}, groups_{"/etc/group"};
  std::string body_, pending_;
  bool lost_ = false;  // in the middle of a write
  bool told_ = false;
};

}  // namespace bulkhead::sdk::isolation::files

namespace bulkhead::sdk::isolation {

// In the command's place, with the pipes as 0 and 1; says the process's exit code.
inline int serve_files() {
  (void)close_range(3, ~0u, 0);
  ::umask(0);
  (void)!::chdir("/");
  // A signal to all of a sandbox's commands is not meant for this.
  for (int number = 1; number <= 64; ++number) {
    if (number != SIGKILL && number != SIGSTOP && number != SIGCHLD) ::signal(number, SIG_IGN);
  }
  files::Worker(0, 1).serve();
  return 0;
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_FILES_WORKER_HPP
