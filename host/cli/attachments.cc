#include "cli/attachments.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "cli/output.h"
#include "cli/text.h"

namespace bh::cli {
namespace {
constexpr int kTries = 1000;
}

std::string file_name_of(std::string_view name) {
  while (!name.empty() && name.back() == '/') name.remove_suffix(1);
  std::size_t slash = name.rfind('/');
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  std::string out;
  for (char c : name) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) out += c;
  }
  if (out.size() > 200) out.resize(200);
  // Also "." and ".."; a hidden file would be saved where nobody looks.
  while (!out.empty() && out.front() == '.') out.erase(0, 1);
  return out.empty() ? "attachment" : out;
}

Attachments::~Attachments() {
  if (dir_ >= 0) ::close(dir_);
}

Result<void> Attachments::save_to(const std::string& dir) {
  if (::mkdir(dir.c_str(), 0777) != 0 && errno != EEXIST) {
    return problem("cannot make the folder " + dir + ": " + std::strerror(errno),
                   "name another with --output DIR");
  }
  dir_ = ::open(dir.c_str(), O_DIRECTORY | O_RDONLY | O_CLOEXEC);
  if (dir_ < 0) {
    return problem("cannot open the folder " + dir + ": " + std::strerror(errno),
                   "name another with --output DIR");
  }
  dir_name_ = dir;
  return {};
}

void Attachments::add(std::string_view name, std::string_view type, std::string_view bytes) {
  std::string what = std::string(name) + " (" + std::string(type) + ", " +
                     bytes_text(static_cast<std::int64_t>(bytes.size())) + ")";
  if (dir_ < 0) {
    lines_.push_back("attached: " + printable(what) + "; --output DIR saves it");
    return;
  }
  std::string base = file_name_of(name);
  std::string file = base;
  int fd = -1;
  for (int i = 2; i < kTries; ++i) {
    fd = ::openat(dir_, file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) break;
    // report.png → report-2.png
    std::size_t dot = base.rfind('.');
    if (dot == std::string::npos || dot == 0) dot = base.size();
    file = base.substr(0, dot) + "-" + std::to_string(i) + base.substr(dot);
  }
  int error = fd < 0 ? errno : write_all(fd, bytes);
  if (fd >= 0 && ::close(fd) != 0 && error == 0) error = errno;
  if (error != 0) {
    problems_.push_back(
        Problem{"cannot save " + dir_name_ + "/" + file + ": " + std::strerror(error),
                "name another folder with --output DIR"});
    return;
  }
  lines_.push_back("saved: " + printable(dir_name_ + "/" + file) + " (" + printable(type) + ", " +
                   bytes_text(static_cast<std::int64_t>(bytes.size())) + ")");
}

}  // namespace bh::cli
