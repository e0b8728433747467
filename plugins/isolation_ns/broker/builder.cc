#include "builder.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include <bulkhead/sdk/isolation/inner_mounts.hpp>

namespace ns {

using isolation::Fd;
using isolation::MountAttributes;

namespace {

constexpr unsigned kPlain = MS_NOSUID | MS_NODEV;

class Builder : private isolation::InnerMounts::Means {
 public:
  Builder(const Blueprint& plan, Trees trees) : plan_(plan), trees_(std::move(trees)) {}

  bool build() {
    // First of all, while what /proc shows of us is still ours.
    if (!own_clock()) return false;
    if (plan_.privileged != 0) {
      // Files are made by somebody whom the new user namespace knows.
      if (::setresgid(0, 0, 0) != 0 || ::setresuid(0, 0, 0) != 0) return fail("the builder's ids");
    }
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      return fail("making the mounts private");
    }
    if (::sethostname("sandbox", 7) != 0) return fail("the host name");
    if (plan_.privileged == 0 && !open_trees(plan_, trees_, nullptr, answer)) return false;
    if (!make_stage() || !lay_sources()) return false;
    for (const Place& place : plan_.places) {
      if (place.target == "/" ? !lay_root(place) : !lay(place)) return false;
    }
    for (const auto& target : plan_.seal) {
      const Fd fd = at(target);
      MountAttributes a;
      a.set = isolation::kMountReadOnly;
      if (!fd || isolation::set_mount(fd.get(), 0, a) != 0) return fail("sealing " + target);
    }
    return enter_root() && lower_limits();
  }

  Answer answer;

 private:
  bool fail(const std::string& what) {
    answer.error = errno != 0 ? errno : EIO;
    ::snprintf(answer.text, sizeof answer.text, "%s: %s", what.c_str(), ::strerror(answer.error));
    return false;
  }

  // How long the machine runs is not the sandbox's to know. Only processes that come later are in
  // the new namespace; a kernel without is fine.
  bool own_clock() {
    timespec now{};
    if (::unshare(0x80 /* CLONE_NEWTIME */) != 0) return true;
    if (::clock_gettime(CLOCK_BOOTTIME, &now) != 0) return true;
    const std::string offset = "boottime -" + std::to_string(now.tv_sec) + " 0\n";
    return isolation::write_text("/proc/self/timens_offsets", offset) ? true : fail("the clock");
  }

  // A folder for what is under construction; it goes with the host's tree.
  bool make_stage() {
    for (const char* folder : {"/tmp", "/mnt", "/var", "/usr"}) {
      if (::mount("bulkhead", folder, "tmpfs", kPlain, "mode=755,size=4m") == 0) {
        stage_ = folder;
        break;
      }
    }
    if (stage_.empty()) return fail("a folder for mounts");
    for (const char* name : {"/root", "/masks", "/texts"}) {
      if (::mkdir((stage_ + name).c_str(), 0755) != 0) return fail("a folder for mounts");
    }
    if (::mkdir((stage_ + "/masks/folder").c_str(), 0555) != 0 || !make_file("/masks/file", "", 0)) {
      return fail("what hides others");
    }
    return true;
  }
  bool make_file(const std::string& name, const std::string& text, unsigned mode) {
    const Fd fd(::open((stage_ + name).c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode));
    return fd && isolation::write_all(fd.get(), text);
  }

  // Sources that something is to be done beneath. Those that lie in others come after them.
  bool lay_sources() {
    tops_.resize(plan_.sources.size());
    isolation::InnerMounts inside(*this);
    for (size_t i = plan_.sources.size(); i-- > 0;) {
      if (plan_.sources[i].inner.empty()) continue;
      const std::string name = "/s" + std::to_string(i);
      const bool made = trees_.folders[i] ? ::mkdir((stage_ + name).c_str(), 0755) == 0
                                          : make_file(name, "", 0600);
      const Fd point(made ? ::open((stage_ + name).c_str(), O_PATH | O_CLOEXEC) : -1);
      if (!point || isolation::move_mount(trees_.sources[i].get(), point.get()) != 0) {
        return fail("mounting " + plan_.sources[i].path);
      }
      tops_[i].reset(::open((stage_ + name).c_str(), O_PATH | O_CLOEXEC));
      if (!tops_[i]) return fail("opening " + plan_.sources[i].path);
      if (!inside.lay(static_cast<uint32_t>(i), plan_.sources[i], tops_[i].get())) {
        answer.error = errno != 0 ? errno : EIO;
        ::snprintf(answer.text, sizeof answer.text, "%s", inside.error().c_str());
        return false;
      }
    }
    return true;
  }

  // InnerMounts::Means
  Fd mask(bool folder) override {
    const Fd fd(
        ::open((stage_ + (folder ? "/masks/folder" : "/masks/file")).c_str(), O_PATH | O_CLOEXEC));
    return fd ? sealed(fd.get()) : Fd();
  }
  Fd tree(uint32_t i) override {
    if (tops_[i]) return isolation::copy_tree(tops_[i].get(), isolation::kTreeRecursive);
    return trees_.sources[i].duplicate();
  }
  bool is_folder(uint32_t i) override { return trees_.folders[i]; }
  std::string name(uint32_t i) override { return plan_.sources[i].path; }

  static Fd sealed(int fd) {
    Fd tree = isolation::copy_tree(fd, 0);
    MountAttributes a;
    a.set = isolation::kMountReadOnly | isolation::kMountNoSuid | isolation::kMountNoDevices;
    if (tree && isolation::set_mount(tree.get(), 0, a) != 0) tree.reset();
    return tree;
  }

  bool lay_root(const Place& place) {
    const std::string path = stage_ + "/root";
    if (place.kind == Place::kHost) {
      const Fd point(::open(path.c_str(), O_PATH | O_CLOEXEC));
      if (!point || isolation::move_mount(trees_.root.get(), point.get()) != 0) {
        return fail("mounting the root");
      }
    } else if (place.kind == Place::kImage) {
      if (!lay_image(path)) return false;
    } else if (::mount("bulkhead", path.c_str(), "tmpfs", kPlain, "mode=755,size=4m") != 0) {
      return fail("mounting the root");
    }
    root_.reset(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    return root_ ? true : fail("opening the root");
  }

  bool lay_layer(const Fd& tree, const std::string& name) {
    const std::string path = stage_ + name;
    if (::mkdir(path.c_str(), 0755) != 0) return false;
    const Fd point(::open(path.c_str(), O_PATH | O_CLOEXEC));
    return point && isolation::move_mount(tree.get(), point.get()) == 0;
  }
  bool lay_overlay(const std::string& path, const std::string& upper) {
    const std::string options = "lowerdir=" + stage_ + "/lower,upperdir=" + upper +
                                "/up,workdir=" + upper + "/work,userxattr";
    return ::mount("bulkhead", path.c_str(), "overlay", kPlain, options.c_str()) == 0;
  }

  // The image below, what this sandbox writes above. Not every file system can be above (an overlay
  // cannot, as in containers): then that is kept in memory, and told.
  bool lay_image(const std::string& path) {
    if (!lay_layer(trees_.sources.at(0), "/lower")) return fail("mounting the image");
    if (trees_.upper && lay_layer(trees_.upper, "/upper") && lay_overlay(path, stage_ + "/upper")) {
      return true;
    }
    const std::string memory = stage_ + "/memory";
    if (::mkdir(memory.c_str(), 0755) != 0 ||
        ::mount("bulkhead", memory.c_str(), "tmpfs", kPlain, "mode=755,size=1g") != 0 ||
        ::mkdir((memory + "/up").c_str(), 0755) != 0 ||
        ::mkdir((memory + "/work").c_str(), 0755) != 0 || !lay_overlay(path, memory)) {
      if (errno == ENODEV) answer.cause = Answer::kNoOverlay;
      return fail("mounting the root over the image");
    }
    answer.memory_root = 1;
    return true;
  }

  // By path from the new root, without links.
  Fd at(const std::string& target) const {
    return isolation::open_beneath(root_.get(), target == "/" ? "." : target.substr(1));
  }
  static std::string through(const Fd& fd) { return "/proc/self/fd/" + std::to_string(fd.get()); }

  // The mount point, made where it is missing: what is around it is then of our own making.
  Fd point(const std::string& target, bool folder) {
    Fd found = at(target);
    if (found || errno != ENOENT) return found;
    const size_t cut = target.rfind('/');
    const std::string above = cut == 0 ? "/" : target.substr(0, cut);
    const Fd parent = at(above) ? at(above) : point(above, true);
    if (!parent) return {};
    const std::string last = target.substr(cut + 1);
    if (folder) {
      if (::mkdirat(parent.get(), last.c_str(), 0755) != 0) return {};
    } else {
      const int flags = O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC;
      if (!Fd(::openat(parent.get(), last.c_str(), flags, 0600))) return {};
    }
    return at(target);
  }

  bool put(const Fd& tree, const std::string& target, bool folder) {
    if (!tree) return fail("mounting " + target);
    const Fd to = point(target, folder);
    if (!to || isolation::move_mount(tree.get(), to.get()) != 0) return fail("mounting " + target);
    return true;
  }
  bool put_memory(const std::string& target, const std::string& options) {
    const Fd to = point(target, true);
    if (!to ||
        ::mount("bulkhead", through(to).c_str(), "tmpfs", kPlain, options.c_str()) != 0) {
      return fail("mounting " + target);
    }
    return true;
  }

  bool lay(const Place& place) {
    const std::string& target = place.target;
    switch (place.kind) {
      case Place::kHost: {
        const auto host = trees_.hosts.find(target);
        if (host == trees_.hosts.end()) return true;
        struct stat st {};
        const bool folder = ::fstat(host->second.get(), &st) == 0 && S_ISDIR(st.st_mode);
        return put(host->second, target, folder);
      }
      case Place::kSource:
        return put(tree(place.source), target, trees_.folders[place.source]);
      case Place::kEmpty:
        return put_memory(target, "mode=755,size=1m");
      case Place::kNothing:
        return put(mask(false), target, false);
      case Place::kLink: {
        const size_t cut = target.rfind('/');
        const Fd parent = at(cut == 0 ? "/" : target.substr(0, cut));
        if (!parent || ::symlinkat(place.text.c_str(), parent.get(), target.c_str() + cut + 1) != 0) {
          return fail("the link " + target);
        }
        return true;
      }
      case Place::kProc: {
        const Fd to = point(target, true);
        if (!to || ::mount("proc", through(to).c_str(), "proc", kPlain | MS_NOEXEC, nullptr) != 0) {
          return fail("mounting " + target);
        }
        return true;
      }
      case Place::kDevices:
        return put_memory(target, "mode=755,size=64k") && make_devices(target);
      case Place::kShared:
        return put_memory(target, "mode=1777,size=" + std::to_string(plan_.shm_bytes));
      case Place::kText:
        return put_text(place);
      case Place::kImage:
        return true;
      case Place::kReadOnly:
      case Place::kPin: {
        const Fd point = at(target);
        const Fd tree = point ? isolation::copy_tree(point.get(), isolation::kTreeRecursive) : Fd();
        MountAttributes a;
        if (place.kind == Place::kReadOnly) a.set = isolation::kMountReadOnly;
        if (!tree || (a.set != 0 &&
                      isolation::set_mount(tree.get(), isolation::kTreeRecursive, a) != 0) ||
            isolation::move_mount(tree.get(), point.get()) != 0) {
          return fail("protecting " + target);
        }
        return true;
      }
    }
    return true;
  }

  bool put_text(const Place& place) {
    // An image may have a link there, or nothing: its own matter.
    const Fd there = at(place.target);
    struct stat st {};
    if (!there || ::fstat(there.get(), &st) != 0 || !S_ISREG(st.st_mode)) return true;
    const std::string name = "/texts/" + std::to_string(texts_++);
    if (!make_file(name, place.text, 0444)) return fail("writing " + place.target);
    const Fd fd(::open((stage_ + name).c_str(), O_PATH | O_CLOEXEC));
    return put(fd ? sealed(fd.get()) : Fd(), place.target, false);
  }

  bool make_devices(const std::string& target) {
    const Fd folder = at(target);
    if (!folder) return fail("opening " + target);
    for (const char* name : {"null", "zero", "full", "random", "urandom", "tty"}) {
      const Fd device = isolation::open_canonical(std::string("/dev/") + name);
      if (!device) return fail(std::string("opening the device ") + name);
      Fd tree = isolation::copy_tree(device.get(), 0);
      MountAttributes a;
      a.set = isolation::kMountNoSuid | isolation::kMountNoExecute;
      if (tree && isolation::set_mount(tree.get(), 0, a) != 0) tree.reset();
      if (!put(tree, target + "/" + name, false)) return false;
    }
    for (const auto& [name, to] : {std::pair("fd", "/proc/self/fd"), {"stdin", "/proc/self/fd/0"},
                                   {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"},
                                   {"core", "/proc/kcore"}, {"ptmx", "pts/ptmx"}}) {
      if (::symlinkat(to, folder.get(), name) != 0) return fail(std::string("the link ") + name);
    }
    for (const char* name : {"shm", "mqueue"}) {
      if (::mkdirat(folder.get(), name, 0755) != 0) return fail("folders for devices");
    }
    const Fd pts = point(target + "/pts", true);
    if (!pts || ::mount("devpts", through(pts).c_str(), "devpts", MS_NOSUID | MS_NOEXEC,
                        "newinstance,ptmxmode=0666,mode=620") != 0) {
      return fail("mounting terminals");
    }
    return true;
  }

  bool enter_root() {
    if (::fchdir(root_.get()) != 0 || ::syscall(SYS_pivot_root, ".", ".") != 0 ||
        ::umount2(".", MNT_DETACH) != 0 || ::chdir("/") != 0) {
      return fail("changing the root");
    }
    return true;
  }

  // Of the kernel's objects that all of a user's sandboxes share otherwise. One that this kernel does
  // not have needs no limit.
  bool lower_limits() {
    for (const auto& line : plan_.kernel) {
      const size_t space = line.find(' ');
      const std::string path = "/proc/sys/user/" + line.substr(0, space);
      if (!isolation::write_text(path, line.substr(space + 1)) && errno != ENOENT) {
        return fail("setting " + path);
      }
    }
    return true;
  }

  const Blueprint& plan_;
  Trees trees_;
  std::string stage_;
  std::vector<Fd> tops_;  // by source: laid out in the stage
  Fd root_;
  int texts_ = 0;
};

}  // namespace

int run_builder(const Blueprint& plan, Trees trees, int socket) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Answer ready;
  std::vector<Fd> none;
  if (receive_message(socket, ready, none) != 1) return 1;
  Builder builder(plan, std::move(trees));
  (void)builder.build();
  // What the maker opens belongs to whoever we are now.
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  if (!send_message(socket, builder.answer)) return 1;
  (void)receive_message(socket, ready, none);
  return 0;
}

}  // namespace ns
