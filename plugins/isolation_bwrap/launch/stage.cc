#include "stage.h"

#include <sched.h>
#include <string.h>
#include <sys/mount.h>


namespace launch {

using isolation::Fd;
using isolation::kMountIdMap;
using isolation::kMountNoDevices;
using isolation::kMountNoSuid;
using isolation::kMountReadOnly;
using isolation::kTreeRecursive;
using isolation::MountAttributes;
using isolation::Source;
using isolation::move_mount;
using isolation::set_mount;

namespace {

constexpr char kFolder[] = "/tmp";  // bubblewrap needs it, so it is there
constexpr char kMasks[] = "/tmp/masks";

std::string place(size_t index) { return std::string(kFolder) + "/s" + std::to_string(index); }

}  // namespace

bool Stage::fail(const std::string& what) {
  error_ = what + ": " + ::strerror(errno);
  return false;
}

bool Stage::enter() {
  const unsigned own_uid = ::geteuid(), own_gid = ::getegid();
  if (::unshare(CLONE_NEWNS | (job_.private_users != 0 ? CLONE_NEWUSER : 0)) != 0) {
    return fail("a mount namespace of the launcher's own");
  }
  if (job_.private_users != 0) {
    auto line = [](unsigned id) { return std::to_string(id) + " " + std::to_string(id) + " 1"; };
    if (!isolation::write_text("/proc/self/setgroups", "deny") ||
        !isolation::write_text("/proc/self/uid_map", line(own_uid)) ||
        !isolation::write_text("/proc/self/gid_map", line(own_gid))) {
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
  // While sources are copied: a copy of what is around it leaves it out, and all that lies in it.
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

// A detached copy of what `fd` shows, with the ids that the source asks for.
Fd Stage::tree_of(const Source& source, int fd) {
  Fd tree = isolation::copy_tree(fd, kTreeRecursive);
  if (!tree) return tree;
  MountAttributes plain;
  plain.set = kMountNoSuid | kMountNoDevices | (source.read_only != 0 ? kMountReadOnly : 0);
  if (set_mount(tree.get(), kTreeRecursive, plain) != 0) return Fd();
  const bool mapped =
      source.owner != isolation::kNobody && (source.owner != job_.uid || source.group != job_.gid);
  if (!mapped) return tree;
  MountAttributes ids;
  ids.set = kMountIdMap;
  const int users = users_.get(isolation::swapped_id(source.owner, job_.uid),
                               isolation::swapped_id(source.group, job_.gid));
  if (users < 0) return Fd();
  ids.users = static_cast<uint64_t>(users);
  // A mount below it that cannot be mapped stays as it is: the sandbox's user owns nothing there.
  if (set_mount(tree.get(), kTreeRecursive, ids) != 0 && set_mount(tree.get(), 0, ids) != 0) {
    return Fd();
  }
  return tree;
}

Fd Stage::mask(bool folder) {
  const std::string path = std::string(kMasks) + (folder ? "/folder" : "/file");
  const Fd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  Fd tree = fd ? isolation::copy_tree(fd.get(), 0) : Fd();
  MountAttributes a;
  a.set = kMountReadOnly | kMountNoSuid | kMountNoDevices;
  if (tree && set_mount(tree.get(), 0, a) != 0) tree.reset();
  return tree;
}

bool Stage::lay(size_t index) {
  const Source& source = job_.sources[index];
  const std::string at = place(index);
  Fd tree = tree_of(source, open_[index].get());
  if (!tree) return fail("mounting " + source.path);
  if (isolation::is_folder(open_[index].get())) {
    if (::mkdir(at.c_str(), 0755) != 0) return fail("a mount point");
  } else {
    const Fd file(::open(at.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644));
    if (!file) return fail("a mount point");
  }
  const Fd point(::open(at.c_str(), O_PATH | O_CLOEXEC));
  if (!point || move_mount(tree.get(), point.get()) != 0) return fail("mounting " + source.path);
  Fd top(::open(at.c_str(), O_PATH | O_CLOEXEC));
  if (!top) return fail("opening " + source.path);
  isolation::InnerMounts inside(*this);
  if (!inside.lay(static_cast<uint32_t>(index), source, top.get())) {
    error_ = inside.error();
    return false;
  }
  open_[index] = std::move(top);
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
  // Before Linux 6.17 bubblewrap's user namespace, which takes these mounts over locked, could not
  // copy / with an unbindable one below it. What it copies is under the sandbox's own /tmp.
  if (::mount(nullptr, kFolder, nullptr, MS_PRIVATE, nullptr) != 0) return fail("a folder for mounts");
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
