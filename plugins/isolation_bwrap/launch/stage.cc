#include "stage.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cstdio>

namespace launch {

using isolation::Fd;
using isolation::InnerMount;
using isolation::Source;

namespace {

// The new mount API by number and layout: neither glibc 2.36 nor older kernel headers are asked.
constexpr unsigned kCloneTree = 1;
constexpr unsigned kRecursive = 0x8000;
constexpr unsigned kEmptyPath = 0x1000;
constexpr uint64_t kReadOnly = 0x1, kNoSuid = 0x2, kNoDevices = 0x4, kIdMap = 0x100000;

struct MountAttributes {
  uint64_t set = 0, clear = 0, propagation = 0, users = 0;
};

int open_tree(int fd, unsigned flags) {
  return static_cast<int>(::syscall(428, fd, "", kEmptyPath | kCloneTree | O_CLOEXEC | flags));
}
int move_mount(int from, int to) {
  return static_cast<int>(::syscall(429, from, "", to, "", 0x04 | 0x40));
}
int set_attributes(int tree, unsigned flags, const MountAttributes& a) {
  return static_cast<int>(::syscall(442, tree, "", kEmptyPath | flags, &a, sizeof a));
}

constexpr char kFolder[] = "/tmp";  // bubblewrap needs it, so it is there
constexpr char kMasks[] = "/tmp/masks";

std::string place(size_t index) { return std::string(kFolder) + "/s" + std::to_string(index); }

bool write_file(const std::string& path, const std::string& text) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && isolation::write_all(fd.get(), text);
}

// Every id as it is, but for `from`, which is shown as `to`.
std::string map_lines(uint32_t from, uint32_t to) {
  std::string lines;
  uint64_t at = 0;
  auto same_until = [&](uint64_t end) {
    if (end > at) {
      const std::string n = std::to_string(at);
      lines += n + " " + n + " " + std::to_string(end - at) + "\n";
    }
    at = end + 1;
  };
  same_until(std::min(from, to));
  same_until(std::max(from, to));
  same_until(UINT32_MAX);
  return lines + std::to_string(from) + " " + std::to_string(to) + " 1\n";
}

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

bool is_folder(int fd) {
  struct stat st {};
  return ::fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

}  // namespace

bool Stage::fail(const std::string& what) {
  error_ = what + ": " + ::strerror(errno);
  return false;
}

bool Stage::enter() {
  const unsigned uid = ::geteuid(), gid = ::getegid();
  if (::unshare(CLONE_NEWNS | (job_.private_users != 0 ? CLONE_NEWUSER : 0)) != 0) {
    return fail("a mount namespace of the launcher's own");
  }
  if (job_.private_users != 0) {
    auto line = [](unsigned id) { return std::to_string(id) + " " + std::to_string(id) + " 1"; };
    if (!write_file("/proc/self/setgroups", "deny") ||
        !write_file("/proc/self/uid_map", line(uid)) ||
        !write_file("/proc/self/gid_map", line(gid))) {
      return fail("the id maps of the launcher's user namespace");
    }
  }
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return fail("making the mounts private");
  }
  return true;
}

// After enter(): a descriptor from before would lie in the host's mount namespace, which nothing
// can be mounted from. Before make_folder(), which covers /tmp.
bool Stage::open_sources() {
  for (const Source& source : job_.sources) {
    Fd fd = isolation::open_canonical(source.path);
    if (!fd) return fail("opening " + source.path);
    struct stat st {};
    if (::fstat(fd.get(), &st) != 0) return fail("looking at " + source.path);
    if (st.st_dev != source.device || st.st_ino != source.inode) {
      errno = ESTALE;
      return fail(source.path + " is no longer what it was when the command was prepared");
    }
    open_.push_back(std::move(fd));
  }
  return true;
}

bool Stage::make_folder() {
  if (::mount("bulkhead", kFolder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m") != 0) {
    return fail("a folder for mounts");
  }
  // A recursive bind of / leaves it out, and all that lies in it.
  if (::mount(nullptr, kFolder, nullptr, MS_UNBINDABLE, nullptr) != 0) {
    return fail("a folder for mounts");
  }
  // What masks are made of lies in a mount of its own: an unbindable one cannot be copied.
  if (::mkdir(kMasks, 0755) != 0 ||
      ::mount("bulkhead", kMasks, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=64k") != 0 ||
      ::mkdir((std::string(kMasks) + "/folder").c_str(), 0555) != 0) {
    return fail("a folder for masks");
  }
  const Fd file(::open((std::string(kMasks) + "/file").c_str(),
                       O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0000));
  return file ? true : fail("an empty file");
}

// A user namespace with the id map that a mount needs. Held by a process for the moment that it
// takes to open it; that one ends with the other end of its pipe, since we may be killed here, and
// the signal for a parent's death is dropped by unshare().
int Stage::users_for(uint32_t owner, uint32_t group) {
  auto& known = users_[{owner, group}];
  if (known) return known.get();
  int pipe[2], life[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return -1;
  Fd ready(pipe[0]), tell(pipe[1]);
  if (::pipe2(life, O_CLOEXEC) != 0) return -1;
  Fd ours_is_gone(life[0]), ours(life[1]);
  const pid_t holder = ::fork();
  if (holder < 0) return -1;
  if (holder == 0) {
    ours.reset();
    char byte = ::unshare(CLONE_NEWUSER) == 0 ? 'y' : 'n';
    (void)!::write(tell.get(), &byte, 1);
    (void)!::read(ours_is_gone.get(), &byte, 1);
    ::_exit(0);
  }
  tell.reset();
  char byte = 0;
  const std::string proc = "/proc/" + std::to_string(holder);
  if (::read(ready.get(), &byte, 1) == 1 && byte == 'y' &&
      write_file(proc + "/uid_map", map_lines(owner, job_.uid)) &&
      write_file(proc + "/gid_map", map_lines(group, job_.gid))) {
    known.reset(::open((proc + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC));
  } else if (byte == 'n') {
    errno = EPERM;
  }
  const int error = errno;
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  errno = error;
  return known.get();
}

// A detached copy of what `fd` shows, with the ids that the source asks for.
Fd Stage::tree_of(const Source& source, int fd) {
  Fd tree(open_tree(fd, kRecursive));
  if (!tree) return tree;
  MountAttributes plain;
  plain.set = kNoSuid | kNoDevices | (source.read_only != 0 ? kReadOnly : 0);
  if (set_attributes(tree.get(), kRecursive, plain) != 0) return Fd();
  const bool mapped =
      source.owner != isolation::kNobody && (source.owner != job_.uid || source.group != job_.gid);
  if (!mapped) return tree;
  MountAttributes ids;
  ids.set = kIdMap;
  const int users = users_for(source.owner, source.group);
  if (users < 0) return Fd();
  ids.users = static_cast<uint64_t>(users);
  // A mount below it that cannot be mapped stays as it is: the sandbox's user owns nothing there.
  if (set_attributes(tree.get(), kRecursive, ids) != 0 && set_attributes(tree.get(), 0, ids) != 0) {
    return Fd();
  }
  return tree;
}

Fd Stage::hidden(bool folder) {
  const std::string path = std::string(kMasks) + (folder ? "/folder" : "/file");
  const Fd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  Fd tree(fd ? open_tree(fd.get(), 0) : -1);
  MountAttributes a;
  a.set = kReadOnly | kNoSuid | kNoDevices;
  if (tree && set_attributes(tree.get(), 0, a) != 0) tree.reset();
  return tree;
}

bool Stage::lay(size_t index) {
  const Source& source = job_.sources[index];
  const std::string at = place(index);
  Fd tree = tree_of(source, open_[index].get());
  if (!tree) return fail("mounting " + source.path);
  if (is_folder(open_[index].get())) {
    if (::mkdir(at.c_str(), 0755) != 0) return fail("a mount point");
  } else {
    const Fd file(::open(at.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644));
    if (!file) return fail("a mount point");
  }
  const Fd point(::open(at.c_str(), O_PATH | O_CLOEXEC));
  if (!point || move_mount(tree.get(), point.get()) != 0) return fail("mounting " + source.path);
  Fd top(::open(at.c_str(), O_PATH | O_CLOEXEC));
  if (!top) return fail("opening " + source.path);
  for (const InnerMount& inner : source.inner) {
    if (!lay_inner(index, inner, top.get())) return false;
  }
  for (const InnerMount& inner : source.inner) {
    if (inner.kind != InnerMount::kHide || inner.make == 0) continue;
    const Fd mask = isolation::open_beneath(top.get(), inner.path);
    MountAttributes a;
    a.set = kReadOnly;
    if (mask && set_attributes(mask.get(), 0, a) != 0) return fail("sealing " + inner.path);
  }
  open_[index] = std::move(top);
  return true;
}

bool Stage::lay_inner(size_t index, const InnerMount& inner, int top) {
  const std::string name = job_.sources[index].path + "/" + inner.path;
  if (inner.make != 0 && inner.kind != InnerMount::kHide) {
    // One part after the other, each beneath the one before; as whoever owns what is around it.
    const bool mapped = inner.make == 1 && job_.sources[index].owner != isolation::kNobody;
    const FileIds as(mapped ? job_.uid : ::geteuid(), mapped ? job_.gid : ::getegid());
    for (size_t end = 0; end != std::string::npos;) {
      end = inner.path.find('/', end + 1);
      const std::string part = inner.path.substr(0, end);
      const size_t cut = part.rfind('/');
      const Fd parent = cut == std::string::npos
                            ? Fd(::fcntl(top, F_DUPFD_CLOEXEC, 3))
                            : isolation::open_beneath(top, part.substr(0, cut));
      const std::string last = cut == std::string::npos ? part : part.substr(cut + 1);
      if (!parent) return fail("a mount point at " + name);
      const bool file = end == std::string::npos && inner.kind == InnerMount::kSource &&
                        !is_folder(open_[inner.source].get());
      const int flags = O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC;
      const Fd made(file ? ::openat(parent.get(), last.c_str(), flags, 0600) : -1);
      const bool done =
          file ? static_cast<bool>(made) : ::mkdirat(parent.get(), last.c_str(), 0755) == 0;
      if (!done && errno != EEXIST) return fail("a mount point at " + name);
    }
  }
  const Fd point = isolation::open_beneath(top, inner.path);
  if (!point) {
    if (errno == ENOENT && inner.optional != 0) return true;
    return fail(errno == ELOOP ? name + " goes through a link" : "opening " + name);
  }
  Fd tree;
  if (inner.kind == InnerMount::kHide && inner.make != 0) {
    // Other things will stand in it; lay() seals it afterwards.
    const std::string at = "/proc/self/fd/" + std::to_string(point.get());
    if (::mount("bulkhead", at.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m") != 0) {
      return fail("hiding " + name);
    }
    return true;
  }
  if (inner.kind == InnerMount::kHide) {
    tree = hidden(is_folder(point.get()));
  } else if (inner.kind == InnerMount::kSource) {
    tree.reset(open_tree(open_[inner.source].get(), kRecursive));
  } else {
    tree.reset(open_tree(point.get(), kRecursive));
    MountAttributes a;
    if (inner.kind == InnerMount::kReadOnly) a.set = kReadOnly;
    if (inner.kind == InnerMount::kWritable) a.clear = kReadOnly;
    if (tree && (a.set | a.clear) != 0 && set_attributes(tree.get(), kRecursive, a) != 0) {
      tree.reset();
    }
  }
  if (!tree || move_mount(tree.get(), point.get()) != 0) return fail("mounting over " + name);
  return true;
}

bool Stage::build() {
  bool any = false;
  for (const Source& source : job_.sources) any = any || source.staged != 0;
  if (!any) return open_sources();
  if (!enter() || !open_sources() || !make_folder()) return false;
  // Sources that lie in others come after them in the job, and are laid before them here.
  for (size_t i = job_.sources.size(); i-- > 0;) {
    if (job_.sources[i].staged != 0 && !lay(i)) return false;
  }
  return true;
}

std::vector<int> Stage::check() {
  std::vector<int> answers(job_.sources.size(), 0);
  if (!enter() || !open_sources()) {
    for (int& answer : answers) answer = errno;
    return answers;
  }
  for (size_t i = 0; i < answers.size(); ++i) {
    if (job_.sources[i].staged != 0 && !tree_of(job_.sources[i], open_[i].get())) {
      answers[i] = errno;
    }
  }
  return answers;
}

}  // namespace launch
