#include "state/data_root.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "base/beneath.h"

namespace bh {

Result<DataRoot> DataRoot::open(const std::string& path) {
  auto fd = make_folder(path, 0700);
  if (!fd) {
    return fail(fd.error().code,
                fd.error().message + "; choose a folder that can be written with data_root",
                "data_root", {{"field", "/data_root"}});
  }
  struct stat st {};
  if (::fstat(fd->get(), &st) != 0) return fail_errno(errno, path);
  if (st.st_uid != ::geteuid() || (st.st_mode & 022) != 0) {
    return fail(BH_FAILED_PRECONDITION,
                "the data folder " + path +
                    " is not yours alone; make it yours and run chmod go-w on it",
                "data_root", {{"field", "/data_root"}});
  }
  std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &std::free);
  return DataRoot(real ? real.get() : path, std::move(*fd));
}

Result<std::string> DataRoot::folder(const std::string& relative) const {
  auto made = make_folder_beneath(fd_.get(), relative, 0700);
  if (!made && made.error().code == BH_PERMISSION_DENIED) {
    // A sandbox owns its home, and may have taken its own rights to it away.
    auto pinned = open_beneath(fd_.get(), relative, O_PATH | O_DIRECTORY);
    if (pinned &&
        ::chmod(("/proc/self/fd/" + std::to_string(pinned->get())).c_str(), 0700) == 0) {
      made = make_folder_beneath(fd_.get(), relative, 0700);
    }
  }
  if (!made) return tl::unexpected(made.error().within("the data folder " + path_));
  return path_ + "/" + relative;
}

namespace {

Result<Fd> lock_file(const DataRoot& root, const std::string& name) {
  auto folder = make_folder_beneath(root.fd(), "locks", 0700);
  if (!folder) return folder;
  return open_beneath(folder->get(), name, O_RDWR | O_CREAT, 0600);
}

}  // namespace

Result<NameLock> NameLock::take(const DataRoot& root, const std::string& name) {
  auto file = lock_file(root, name);
  if (!file) return tl::unexpected(std::move(file).error());
  while (::flock(file->get(), LOCK_EX) != 0) {
    if (errno != EINTR) return fail_errno(errno, "locking " + name);
  }
  return NameLock(std::move(*file));
}

Result<std::optional<NameLock>> NameLock::try_take(const DataRoot& root, const std::string& name) {
  auto file = lock_file(root, name);
  if (!file) return tl::unexpected(std::move(file).error());
  while (::flock(file->get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::optional<NameLock>();
    if (errno != EINTR) return fail_errno(errno, "locking " + name);
  }
  return std::optional<NameLock>(NameLock(std::move(*file)));
}

}  // namespace bh
