#include "loader/trust.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>

namespace bh {
namespace {

constexpr int kMaxLinks = 40;
constexpr uid_t kOverflowId = 65534;

enum class Position { on_the_way, at_the_end };

std::string octal(mode_t mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode & 07777));
  return text;
}

Checked<void> check_owner(const struct stat& st, const std::string& path, const Trust& trust) {
  if (std::find(trust.owners.begin(), trust.owners.end(), st.st_uid) != trust.owners.end()) {
    return {};
  }
  std::string hint = "give it to root or to the user who runs the host: chown " + std::to_string(::geteuid()) + " " + path;
  if (st.st_uid == kOverflowId) {
    hint =
        "inside a user namespace that does not map its owner, files seem to be nobody's; map "
        "that owner, or copy the plugin to a place of the user's own";
  }
  return refuse(LoadStage::permission,
                path + " belongs to user " + std::to_string(st.st_uid) +
                    ", who is neither root nor the user who runs the host",
                hint);
}

Checked<void> check_mode(const struct stat& st, const std::string& path, const Trust& trust,
                         Position position) {
  const bool sticky_folder = S_ISDIR(st.st_mode) && (st.st_mode & S_ISVTX) != 0;
  if (sticky_folder && position == Position::on_the_way) return {};
  if ((st.st_mode & S_IWOTH) != 0) {
    return refuse(LoadStage::permission,
                  path + " is writable by everybody (mode " + octal(st.st_mode) + ")",
                  "chmod o-w " + path);
  }
  if ((st.st_mode & S_IWGRP) != 0 && trust.group != st.st_gid) {
    return refuse(LoadStage::permission,
                  path + " is writable by its group (mode " + octal(st.st_mode) + ")",
                  "chmod g-w " + path);
  }
  return {};
}

Checked<void> check(const struct stat& st, const std::string& path, const Trust& trust,
                    Position position) {
  if (auto ok = check_owner(st, path, trust); !ok) return ok;
  return check_mode(st, path, trust, position);
}

tl::unexpected<Finding> cannot_open(const std::string& path, int error) {
  return refuse(LoadStage::permission, path + " cannot be opened: " + std::strerror(error),
                hint_for_errno(error, path));
}

void prepend_parts(const std::string& path, std::deque<std::string>& parts) {
  std::deque<std::string> mine;
  size_t at = 0;
  while (at < path.size()) {
    size_t end = path.find('/', at);
    if (end == std::string::npos) end = path.size();
    std::string part = path.substr(at, end - at);
    if (!part.empty() && part != ".") mine.push_back(std::move(part));
    at = end + 1;
  }
  parts.insert(parts.begin(), mine.begin(), mine.end());
}

struct Step {
  Fd fd;
  std::string name;
};

std::string path_of(const std::vector<Step>& steps) {
  std::string path;
  for (size_t i = 1; i < steps.size(); ++i) path += "/" + steps[i].name;
  return path.empty() ? "/" : path;
}

Checked<Folder> reopen(std::vector<Step>& steps) {
  const std::string path = path_of(steps);
  int fd = ::openat(steps.back().fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return cannot_open(path, errno);
  return Folder{Fd(fd), path};
}

}  // namespace

Trust Trust::usual() {
  Trust trust;
  trust.owners = {0, ::geteuid()};
  return trust;
}

Checked<std::optional<Folder>> open_folder(const std::string& path, const Trust& trust) {
  if (path.empty() || path[0] != '/') {
    return refuse(LoadStage::permission, "\"" + path + "\" is not an absolute path",
                  "write the whole path, beginning with /");
  }
  std::deque<std::string> parts;
  prepend_parts(path, parts);

  std::vector<Step> steps;
  int root = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return cannot_open("/", errno);
  steps.push_back({Fd(root), ""});

  int links = 0;
  while (true) {
    struct stat st;
    if (::fstat(steps.back().fd.get(), &st) != 0) return cannot_open(path_of(steps), errno);
    const Position position = parts.empty() ? Position::at_the_end : Position::on_the_way;
    if (auto ok = check(st, path_of(steps), trust, position); !ok) {
      return tl::make_unexpected(ok.error());
    }
    if (parts.empty()) break;

    std::string part = std::move(parts.front());
    parts.pop_front();
    if (part == "..") {
      if (steps.size() > 1) steps.pop_back();
      continue;
    }
    const std::string here = path_of(steps);
    const std::string next = (here == "/" ? "" : here) + "/" + part;
    Fd fd(::openat(steps.back().fd.get(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (fd.get() < 0) {
      if (errno == ENOENT) return std::optional<Folder>();
      return cannot_open(next, errno);
    }
    if (::fstat(fd.get(), &st) != 0) return cannot_open(next, errno);
    if (S_ISLNK(st.st_mode)) {
      if (auto ok = check_owner(st, next, trust); !ok) return tl::make_unexpected(ok.error());
      char target[PATH_MAX];
      const ssize_t length = ::readlinkat(fd.get(), "", target, sizeof target);
      if (length <= 0 || length >= static_cast<ssize_t>(sizeof target) || ++links > kMaxLinks) {
        return refuse(LoadStage::permission, next + " is a link that leads nowhere",
                      "point the link at a folder that is there, or remove it: rm " + next);
      }
      const std::string to(target, static_cast<size_t>(length));
      if (to[0] == '/') steps.resize(1);
      prepend_parts(to, parts);
      continue;
    }
    if (!S_ISDIR(st.st_mode)) {
      return refuse(LoadStage::permission, next + " is not a folder",
                    "name a folder that holds plugins, or move the file " + next + " away");
    }
    steps.push_back({std::move(fd), std::move(part)});
  }
  auto folder = reopen(steps);
  if (!folder) return tl::make_unexpected(folder.error());
  return std::optional<Folder>(std::move(*folder));
}

Checked<Folder> open_subfolder(const Folder& parent, const std::string& name, const Trust& trust) {
  const std::string path = parent.path + "/" + name;
  Fd fd(::openat(parent.fd.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd.get() < 0) {
    if (errno == ELOOP || errno == ENOTDIR) {
      return refuse(LoadStage::permission, path + " is a link or not a folder",
                    "put the folder itself there, or name its place in plugins.path");
    }
    return cannot_open(path, errno);
  }
  struct stat st;
  if (::fstat(fd.get(), &st) != 0) return cannot_open(path, errno);
  if (auto ok = check(st, path, trust, Position::at_the_end); !ok) {
    return tl::make_unexpected(ok.error());
  }
  return Folder{std::move(fd), path};
}

Checked<File> open_file(const Folder& folder, const std::string& relative, const Trust& trust) {
  const size_t slash = relative.find('/');
  if (slash != std::string::npos) {
    auto below = open_subfolder(folder, relative.substr(0, slash), trust);
    if (!below) return tl::make_unexpected(below.error());
    return open_file(*below, relative.substr(slash + 1), trust);
  }
  const std::string path = folder.path + "/" + relative;
  // O_NONBLOCK: a FIFO must not hold the scan up before it is seen to be one.
  Fd fd(::openat(folder.fd.get(), relative.c_str(),
                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (fd.get() < 0) {
    if (errno == ENOENT) {
      return refuse(LoadStage::manifest, path + " is not there", "build it or install it again");
    }
    if (errno == ELOOP) {
      return refuse(LoadStage::permission, path + " is a symbolic link",
                    "put the file itself there: links could be pointed elsewhere between the "
                    "check and the load");
    }
    return cannot_open(path, errno);
  }
  struct stat st;
  if (::fstat(fd.get(), &st) != 0) return cannot_open(path, errno);
  if (!S_ISREG(st.st_mode)) {
    return refuse(LoadStage::permission, path + " is not a regular file",
                  "install the plugin again: the file itself belongs in the place of the folder, "
                  "pipe or device " + path);
  }
  if (auto ok = check(st, path, trust, Position::at_the_end); !ok) {
    return tl::make_unexpected(ok.error());
  }
  return File{std::move(fd), path};
}

}  // namespace bh
