#include "archives.h"

#include <archive.h>
#include <archive_entry.h>

namespace bh_test {
namespace {

la_ssize_t append(archive*, void* to, const void* data, std::size_t size) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(data), size);
  return static_cast<la_ssize_t>(size);
}

}  // namespace

std::string compressed(const std::string& bytes, const std::string& filter) {
  std::string out;
  archive* a = ::archive_write_new();
  archive_entry* entry = ::archive_entry_new();
  ::archive_entry_set_filetype(entry, AE_IFREG);
  bool good = ::archive_write_add_filter_by_name(a, filter.c_str()) == ARCHIVE_OK &&
              ::archive_write_set_format_raw(a) == ARCHIVE_OK &&
              ::archive_write_set_bytes_in_last_block(a, 1) == ARCHIVE_OK &&
              ::archive_write_open(a, &out, nullptr, append, nullptr) == ARCHIVE_OK &&
              ::archive_write_header(a, entry) == ARCHIVE_OK;
  for (std::size_t at = 0; good && at < bytes.size();) {
    const la_ssize_t n = ::archive_write_data(a, bytes.data() + at, bytes.size() - at);
    good = n > 0;
    at += good ? static_cast<std::size_t>(n) : 0;
  }
  good = ::archive_write_close(a) == ARCHIVE_OK && good;
  ::archive_entry_free(entry);
  ::archive_write_free(a);
  return good ? out : std::string();
}

}  // namespace bh_test
