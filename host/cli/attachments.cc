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
  // Half a file under the name of a whole one would be taken for it.
  for (auto& [stream, file] : coming_) {
    if (file.fd < 0) continue;
    ::close(file.fd);
    ::unlinkat(dir_, file.name.c_str(), 0);
  }
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

Attachments::File Attachments::create(std::string_view name, std::string_view type) {
  File file;
  file.shown = name;
  file.type = type;
  if (dir_ < 0) return file;
  std::string base = file_name_of(name);
  file.name = base;
  for (int i = 2; i < kTries; ++i) {
    file.fd = ::openat(dir_, file.name.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file.fd >= 0 || errno != EEXIST) break;
    // report.png → report-2.png
    std::size_t dot = base.rfind('.');
    if (dot == std::string::npos || dot == 0) dot = base.size();
    file.name = base.substr(0, dot) + "-" + std::to_string(i) + base.substr(dot);
  }
  if (file.fd < 0) file.error = errno;
  return file;
}

void Attachments::write(File& file, std::string_view bytes) {
  file.size += static_cast<std::int64_t>(bytes.size());
  if (file.fd >= 0 && file.error == 0) file.error = write_all(file.fd, bytes);
}

void Attachments::close(File& file) {
  if (file.fd >= 0 && ::close(file.fd) != 0 && file.error == 0) file.error = errno;
  if (file.error != 0) {
    problems_.push_back(
        Problem{"cannot save " + dir_name_ + "/" + file.name + ": " + std::strerror(file.error),
                "name another folder with --output DIR"});
    return;
  }
  const std::string what = "(" + printable(file.type) + ", " + bytes_text(file.size) + ")";
  lines_.push_back(dir_ < 0 ? "attached: " + printable(file.shown) + " " + what +
                                  "; --output DIR saves it"
                            : "saved: " + printable(dir_name_ + "/" + file.name) + " " + what);
}

void Attachments::add(std::string_view name, std::string_view type, std::string_view bytes) {
  File file = create(name, type);
  write(file, bytes);
  close(file);
}

void Attachments::begin(std::int32_t stream, std::string_view name, std::string_view type) {
  coming_[stream] = create(name, type);
}

void Attachments::append(std::int32_t stream, std::string_view bytes) {
  auto at = coming_.find(stream);
  if (at != coming_.end()) write(at->second, bytes);
}

void Attachments::end(std::int32_t stream) {
  auto at = coming_.find(stream);
  if (at == coming_.end()) return;
  close(at->second);
  coming_.erase(at);
}

}  // namespace bh::cli
