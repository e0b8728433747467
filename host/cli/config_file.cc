#include "cli/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "cli/json.h"

namespace bh::cli {
namespace {

constexpr std::size_t kMaxConfig = 1 << 20;

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string reason(int error) { return std::strerror(error); }

// The checks and the reading look at the same open file, so nothing can be swapped in between.
Result<std::string> read_trusted(int fd, const std::string& path) {
  struct stat st {};
  if (::fstat(fd, &st) != 0) return problem("cannot look at " + path + ": " + reason(errno));
  std::string what = "the config file " + path;
  if (!S_ISREG(st.st_mode)) return problem(what + " is not a regular file");
  if (st.st_uid != ::geteuid() && st.st_uid != 0) {
    return problem(what + " belongs to another user (uid " + std::to_string(st.st_uid) + ")",
                   "only your own or root's is read: chown it, or name another with --config");
  }
  if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return problem(what + " can be written by others", "chmod go-w " + path);
  }
  return read_small_fd(fd, what, kMaxConfig);
}

}  // namespace

Result<std::string> read_small_fd(int fd, const std::string& what, std::size_t limit) {
  std::string text;
  char buffer[16384];
  for (;;) {
    ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n == 0) return text;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return problem("cannot read " + what + ": " + reason(errno));
    text.append(buffer, static_cast<std::size_t>(n));
    if (text.size() > limit) {
      return problem(what + " is larger than " + std::to_string(limit) + " bytes",
                     "make it smaller; large content goes to a tool as its input or as a file");
    }
  }
}

std::string default_config_dir(const Surroundings& around) {
  const std::string* xdg = around.var("XDG_CONFIG_HOME");
  // The XDG specification says that relative ones are to be ignored.
  if (xdg != nullptr && xdg->front() == '/') return *xdg + "/bulkhead";
  return around.home.empty() ? std::string() : around.home + "/.config/bulkhead";
}

Result<std::string> read_small_file(const std::string& path, const std::string& what,
                                    std::size_t limit) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return problem("cannot open " + what + " " + path + ": " + reason(errno));
  return read_small_fd(fd.get(), what + " " + path, limit);
}

Result<ConfigFile> read_config_file(const Options& options, const Surroundings& around) {
  ConfigFile file;
  bool named = true;
  if (options.config) {
    file.path = around.absolute(*options.config);
    file.source = "--config";
  } else if (const std::string* env = around.var("BULKHEAD_CONFIG")) {
    file.path = around.absolute(*env);
    file.source = "BULKHEAD_CONFIG";
  } else {
    named = false;
    file.source = "default";
    std::string dir = default_config_dir(around);
    if (dir.empty()) return file;
    file.path = dir + "/config.json";
  }
  // O_NONBLOCK: a fifo in its place must not hang the start.
  Fd fd(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) {
    bool absent = errno == ENOENT || errno == ENOTDIR;
    if (absent && !named) return file;
    return problem("cannot open the config file " + file.path + ": " + reason(errno),
                   named ? "given by " + file.source : "make it readable for you");
  }
  Result<std::string> text = read_trusted(fd.get(), file.path);
  if (!text) return tl::unexpected<Problem>(std::move(text.error()));
  Result<boost::json::object> values = parse_strict_object(*text, "the config file " + file.path);
  if (!values) return tl::unexpected<Problem>(std::move(values.error()));
  file.found = true;
  file.values = std::move(*values);
  return file;
}

}  // namespace bh::cli
