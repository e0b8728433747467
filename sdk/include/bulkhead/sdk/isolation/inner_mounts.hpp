// bulkhead/sdk/isolation/inner_mounts.hpp - what is done beneath a source once it is mounted
// (Source::inner), by descriptor alone: who may write there could turn any path into another. No SDK
// types here: helper programs include it. Single-threaded.
#ifndef BULKHEAD_SDK_ISOLATION_INNER_MOUNTS_HPP
#define BULKHEAD_SDK_ISOLATION_INNER_MOUNTS_HPP

#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>

#include <string>

#include "launch_job.hpp"
#include "mount_api.hpp"

namespace bulkhead::sdk::isolation {

// Makes files as another, until it goes.
class FileIds {
 public:
  FileIds(uint32_t uid, uint32_t gid) {
    ::setfsgid(gid);
    ::setfsuid(uid);
  }
  ~FileIds() {
    ::setfsuid(::geteuid());
    ::setfsgid(::getegid());
  }
  FileIds(const FileIds&) = delete;
  FileIds& operator=(const FileIds&) = delete;
};

inline bool is_folder(int fd) {
  struct stat st {};
  return ::fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

class InnerMounts {
 public:
  // What the work needs of whoever does it.
  class Means {
   public:
    virtual Fd mask(bool folder) = 0;           // a detached mount that hides what it covers
    virtual Fd tree(uint32_t source) = 0;       // a detached mount of another source
    virtual bool is_folder(uint32_t source) = 0;
    virtual std::string name(uint32_t source) = 0;
    // Who makes mount points in a source of which somebody owns the files.
    uint32_t uid = kNobody, gid = kNobody;

   protected:
    ~Means() = default;
  };

  explicit InnerMounts(Means& means) : means_(means) {}

  // `top`: the mounted source, `all`: what is done beneath it. False: error() tells.
  bool lay(uint32_t index, const Source& source, int top) {
    name_ = means_.name(index);
    const bool owned = source.owner != kNobody && means_.uid != kNobody;
    for (const InnerMount& inner : source.inner) {
      if (!lay_one(inner, top, owned)) return false;
    }
    for (const InnerMount& inner : source.inner) {
      if (inner.kind != InnerMount::kHide || inner.make == 0) continue;
      const Fd mask = open_beneath(top, inner.path);
      MountAttributes a;
      a.set = kMountReadOnly;
      if (mask && set_mount(mask.get(), 0, a) != 0) return fail("sealing " + inner.path);
    }
    return true;
  }
  const std::string& error() const { return error_; }

 private:
  bool fail(const std::string& what) {
    error_ = what + ": " + ::strerror(errno);
    return false;
  }

  // One part after the other, each beneath the one before; as whoever owns what is around it.
  bool make_point(const InnerMount& inner, int top, bool owned) {
    const bool as_owner = inner.make == 1 && owned;
    const FileIds as(as_owner ? means_.uid : ::geteuid(), as_owner ? means_.gid : ::getegid());
    for (size_t end = 0; end != std::string::npos;) {
      end = inner.path.find('/', end + 1);
      const std::string part = inner.path.substr(0, end);
      const size_t cut = part.rfind('/');
      const Fd parent = cut == std::string::npos ? Fd(::fcntl(top, F_DUPFD_CLOEXEC, 3))
                                                 : open_beneath(top, part.substr(0, cut));
      const std::string last = cut == std::string::npos ? part : part.substr(cut + 1);
      if (!parent) return fail("a mount point at " + name_ + "/" + inner.path);
      const bool file = end == std::string::npos && inner.kind == InnerMount::kSource &&
                        !means_.is_folder(inner.source);
      const int flags = O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC;
      const Fd made(file ? ::openat(parent.get(), last.c_str(), flags, 0600) : -1);
      const bool done =
          file ? static_cast<bool>(made) : ::mkdirat(parent.get(), last.c_str(), 0755) == 0;
      if (!done && errno != EEXIST) return fail("a mount point at " + name_ + "/" + inner.path);
    }
    return true;
  }

  bool lay_one(const InnerMount& inner, int top, bool owned) {
    const std::string name = name_ + "/" + inner.path;
    if (inner.make != 0 && inner.kind != InnerMount::kHide && !make_point(inner, top, owned)) {
      return false;
    }
    const Fd point = open_beneath(top, inner.path);
    if (!point) {
      // Where we may not pass, with the sandbox's ids, nobody in it may either.
      const bool closed = errno == EACCES && inner.kind == InnerMount::kHide;
      if ((errno == ENOENT || closed) && inner.optional != 0) return true;
      return fail(errno == ELOOP ? name + " goes through a link" : "opening " + name);
    }
    if (inner.kind == InnerMount::kHide && inner.make != 0) {
      // Other things will stand in it; lay() seals it afterwards.
      const std::string at = "/proc/self/fd/" + std::to_string(point.get());
      if (::mount("bulkhead", at.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m") != 0) {
        return fail("hiding " + name);
      }
      return true;
    }
    Fd tree;
    if (inner.kind == InnerMount::kHide) {
      tree = means_.mask(isolation::is_folder(point.get()));
    } else if (inner.kind == InnerMount::kSource) {
      tree = means_.tree(inner.source);
    } else {
      tree = copy_tree(point.get(), kTreeRecursive);
      MountAttributes a;
      if (inner.kind == InnerMount::kReadOnly) a.set = kMountReadOnly;
      if (inner.kind == InnerMount::kWritable) a.clear = kMountReadOnly;
      if (tree && (a.set | a.clear) != 0 && set_mount(tree.get(), kTreeRecursive, a) != 0) {
        tree.reset();
      }
    }
    if (!tree || move_mount(tree.get(), point.get()) != 0) return fail("mounting over " + name);
    return true;
  }

  Means& means_;
  std::string name_, error_;
};

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_INNER_MOUNTS_HPP
