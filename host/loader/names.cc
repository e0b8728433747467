#include "loader/names.h"

#include <algorithm>

#include "base/utf8.h"

namespace bh {
namespace {

bool lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool word(char c) { return lower_or_digit(c) || c == '_' || c == '-'; }

// The number of parts between `separator`s when each is non-empty and made of word characters.
size_t parts_of(std::string_view text, char separator) {
  size_t parts = 0;
  while (true) {
    const size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = text.substr(0, end);
    if (part.empty() || !std::all_of(part.begin(), part.end(), word)) return 0;
    ++parts;
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

bool is_plugin_id(std::string_view text) { return text.size() <= 128 && parts_of(text, '.') >= 2; }

bool is_provider_id(std::string_view text) {
  return text.size() <= 63 && parts_of(text, '.') == 1 && lower_or_digit(text[0]);
}

bool is_interface_id(std::string_view text) {
  const size_t slash = text.find('/');
  if (text.size() > 128 || slash == std::string_view::npos) return false;
  const std::string_view major = text.substr(slash + 1);
  if (major.empty() || major.size() > 4 || major[0] == '0') return false;
  const bool digits =
      std::all_of(major.begin(), major.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && parts_of(text.substr(0, slash), '.') >= 2;
}

bool is_platform(std::string_view text) { return text.size() <= 64 && parts_of(text, '-') == 2; }

bool is_line(std::string_view text) {
  if (text.empty() || text.size() > 256 || !utf8::valid(text)) return false;
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool is_relative_file(std::string_view text) {
  if (!is_line(text)) return false;
  while (true) {
    const size_t end = std::min(text.find('/'), text.size());
    const std::string_view part = text.substr(0, end);
    if (part.empty() || part == "." || part == "..") return false;
    if (end == text.size()) return true;
    text.remove_prefix(end + 1);
  }
}

std::string_view own_platform() {
#if defined(__x86_64__)
  return "linux-x86_64";
#elif defined(__aarch64__)
  return "linux-aarch64";
#elif defined(__riscv) && __riscv_xlen == 64
  return "linux-riscv64";
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
  return "linux-ppc64le";
#elif defined(__s390x__)
  return "linux-s390x";
#else
#error "bulkhead: name this platform here and in elf.cc"
#endif
}

}  // namespace bh
