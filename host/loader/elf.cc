#include "loader/elf.h"

#include <bulkhead/plugin.h>
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

namespace bh {
namespace {

constexpr size_t kSegmentsLimit = 256;
constexpr size_t kDynamicLimit = 4096;
constexpr size_t kSymbolsLimit = 1 << 17;      // a plugin that exports more is not looked through
constexpr uint64_t kStringsLimit = 16u << 20;  // bytes
constexpr std::string_view kEntryStem = "bh_plugin_entry_v";

#if defined(__x86_64__)
constexpr uint16_t kOwnMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kOwnMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr uint16_t kOwnMachine = EM_RISCV;
#elif defined(__powerpc64__)
constexpr uint16_t kOwnMachine = EM_PPC64;
#elif defined(__s390x__)
constexpr uint16_t kOwnMachine = EM_S390;
#endif

std::string machine_name(uint16_t machine) {
  switch (machine) {
    case EM_386:
      return "i386";
    case EM_X86_64:
      return "x86_64";
    case EM_ARM:
      return "arm";
    case EM_AARCH64:
      return "aarch64";
    case EM_RISCV:
      return "riscv";
    case EM_PPC64:
      return "ppc64";
    case EM_S390:
      return "s390x";
    default:
      return "machine " + std::to_string(machine);
  }
}

// What is wrong with such a file is nearly always how it came here.
constexpr const char* kCopyAgain =
    "install the plugin again: the copy is damaged or not complete";

tl::unexpected<Finding> not_a_library(std::string why, std::string hint = kCopyAgain) {
  return refuse(LoadStage::elf, "not a shared library: " + std::move(why), std::move(hint));
}

std::string rebuild() {
  return "rebuild the plugin for " + machine_name(kOwnMachine) + ", or install its build for this machine";
}

std::string link_it_shared() {
  return "name the plugin's library in plugin.json, or link it as one (-shared)";
}

class Elf {
 public:
  explicit Elf(const ByteSource& file) : file_(file) {}

  Checked<ElfExports> inspect() {
    if (auto ok = header(); !ok) return tl::make_unexpected(ok.error());
    if (auto ok = segments(); !ok) return tl::make_unexpected(ok.error());
    if (auto ok = dynamic(); !ok) return tl::make_unexpected(ok.error());
    return exports();
  }

 private:
  template <class T>
  bool read(uint64_t offset, T* to, size_t count = 1) const {
    // count * sizeof(T) cannot overflow: all counts are capped by the limits above.
    const uint64_t bytes = count * sizeof(T);
    return offset <= file_.size && bytes <= file_.size - offset &&
           file_.read(offset, to, static_cast<size_t>(bytes));
  }

  Checked<void> header() {
    if (!read(0, header_.e_ident, EI_NIDENT) ||
        std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) {
      return not_a_library("it is no ELF file",
                           "name the plugin's shared library under /library in plugin.json, or install the "
                           "plugin again");
    }
    if (header_.e_ident[EI_CLASS] != ELFCLASS64) {
      return not_a_library("it is built for 32 bits; this host has 64", rebuild());
    }
    const bool little = std::endian::native == std::endian::little;
    if (header_.e_ident[EI_DATA] != (little ? ELFDATA2LSB : ELFDATA2MSB)) {
      return not_a_library("its byte order is not this machine's", rebuild());
    }
    if (!read(0, &header_)) return not_a_library("it ends within its header");
    if (header_.e_machine != kOwnMachine) {
      return refuse(LoadStage::elf,
                    "built for " + machine_name(header_.e_machine) + "; this machine is " +
                        machine_name(kOwnMachine),
                    rebuild());
    }
    if (header_.e_type != ET_DYN) {
      return not_a_library(header_.e_type == ET_EXEC
                               ? "it is a program"
                               : "its ELF type is " + std::to_string(header_.e_type),
                           link_it_shared());
    }
    return {};
  }

  Checked<void> segments() {
    if (header_.e_phentsize != sizeof(Elf64_Phdr) || header_.e_phnum == 0 ||
        header_.e_phnum > kSegmentsLimit) {
      return not_a_library("its program headers are malformed");
    }
    segments_.resize(header_.e_phnum);
    if (!read(header_.e_phoff, segments_.data(), segments_.size())) {
      return not_a_library("its program headers lie outside the file");
    }
    for (const Elf64_Phdr& segment : segments_) {
      const bool matters = segment.p_type == PT_LOAD || segment.p_type == PT_DYNAMIC;
      if (matters &&
          (segment.p_offset > file_.size || segment.p_filesz > file_.size - segment.p_offset)) {
        return not_a_library("a segment lies outside the file; the file may be cut short");
      }
    }
    return {};
  }

  Checked<void> dynamic() {
    const auto segment =
        std::find_if(segments_.begin(), segments_.end(),
                     [](const Elf64_Phdr& each) { return each.p_type == PT_DYNAMIC; });
    if (segment == segments_.end()) return not_a_library("it has no dynamic section", link_it_shared());
    std::vector<Elf64_Dyn> entries(
        std::min<uint64_t>(segment->p_filesz / sizeof(Elf64_Dyn), kDynamicLimit));
    if (!read(segment->p_offset, entries.data(), entries.size())) {
      return not_a_library("its dynamic section cannot be read");
    }
    for (const Elf64_Dyn& entry : entries) {
      switch (entry.d_tag) {
        case DT_NULL:
          return {};
        case DT_SYMTAB:
          symbols_at_ = entry.d_un.d_ptr;
          break;
        case DT_STRTAB:
          strings_at_ = entry.d_un.d_ptr;
          break;
        case DT_STRSZ:
          strings_size_ = entry.d_un.d_val;
          break;
        case DT_HASH:
          hash_at_ = entry.d_un.d_ptr;
          break;
        case DT_GNU_HASH:
          gnu_hash_at_ = entry.d_un.d_ptr;
          break;
        case DT_FLAGS_1:
          if ((entry.d_un.d_val & DF_1_PIE) != 0) return not_a_library("it is a program", link_it_shared());
          break;
        default:
          break;
      }
    }
    return {};
  }

  // Where in the file an address of the loaded library comes from.
  std::optional<uint64_t> offset_of(uint64_t address) const {
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
      const uint64_t inside = address - segment.p_vaddr;
      if (inside < segment.p_filesz) return segment.p_offset + inside;
    }
    return std::nullopt;
  }

  // The dynamic section does not say how many symbols there are; the hash tables do.
  size_t count_symbols() const {
    if (const auto at = hash_at_ == 0 ? std::nullopt : offset_of(hash_at_)) {
      std::array<uint32_t, 2> head{};  // buckets, chains; as many chains as symbols
      if (read(*at, head.data(), head.size())) return head[1];
    }
    const auto at = gnu_hash_at_ == 0 ? std::nullopt : offset_of(gnu_hash_at_);
    std::array<uint32_t, 4> head{};  // buckets, first symbol, bloom words, shift
    if (!at || !read(*at, head.data(), head.size())) return 0;
    const auto [bucket_count, first, bloom_words, shift] = head;
    if (bucket_count > kSymbolsLimit || bloom_words > kSymbolsLimit) return 0;
    const uint64_t buckets_at = *at + sizeof head + uint64_t{bloom_words} * 8;
    std::vector<uint32_t> buckets(bucket_count);
    if (!read(buckets_at, buckets.data(), buckets.size()) || buckets.empty()) return 0;
    uint32_t last = *std::max_element(buckets.begin(), buckets.end());
    if (last < first || last > kSymbolsLimit) return 0;
    // The last bucket's chain ends at an odd hash value.
    const uint64_t chains_at = buckets_at + uint64_t{bucket_count} * 4;
    for (; last < kSymbolsLimit; ++last) {
      uint32_t hash = 0;
      if (!read(chains_at + uint64_t{last - first} * 4, &hash)) return 0;
      if ((hash & 1) != 0) return last + 1;
    }
    return 0;
  }

  ElfExports exports() const {
    ElfExports found;
    const size_t count = count_symbols();
    const auto symbols_offset = offset_of(symbols_at_);
    const auto strings_offset = offset_of(strings_at_);
    if (count == 0 || count > kSymbolsLimit || !symbols_offset || !strings_offset ||
        strings_size_ == 0 || strings_size_ > kStringsLimit || strings_size_ > file_.size) {
      return found;
    }
    std::vector<Elf64_Sym> symbols(count);
    std::string strings(strings_size_, '\0');
    if (!read(*symbols_offset, symbols.data(), symbols.size()) ||
        !read(*strings_offset, strings.data(), strings.size())) {
      return found;
    }
    for (const Elf64_Sym& symbol : symbols) {
      if (symbol.st_name >= strings.size() || !exported(symbol)) continue;
      const std::string_view name(strings.c_str() + symbol.st_name);
      found.known = true;
      if (const auto major = entry_major(name)) {
        found.entries.push_back(*major);
      } else if (!linkers_own(name)) {
        ++found.others;
      }
    }
    return found;
  }

  static bool exported(const Elf64_Sym& symbol) {
    const unsigned bind = ELF64_ST_BIND(symbol.st_info);
    const unsigned visibility = ELF64_ST_VISIBILITY(symbol.st_other);
    return symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS && symbol.st_name != 0 &&
           (bind == STB_GLOBAL || bind == STB_WEAK || bind == STB_GNU_UNIQUE) &&
           (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
  }

  static std::optional<uint32_t> entry_major(std::string_view name) {
    if (name.substr(0, kEntryStem.size()) != kEntryStem) return std::nullopt;
    name.remove_prefix(kEntryStem.size());
    if (name.empty() || name.size() > 4) return std::nullopt;
    uint32_t major = 0;
    for (const char c : name) {
      if (c < '0' || c > '9') return std::nullopt;
      major = major * 10 + static_cast<uint32_t>(c - '0');
    }
    return major;
  }

  static bool linkers_own(std::string_view name) {
    static constexpr std::array<std::string_view, 6> kNames = {"_init",  "_fini",       "_end",
                                                               "_edata", "__bss_start", "_start"};
    return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
  }

  const ByteSource& file_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
  uint64_t symbols_at_ = 0;
  uint64_t strings_at_ = 0;
  uint64_t strings_size_ = 0;
  uint64_t hash_at_ = 0;
  uint64_t gnu_hash_at_ = 0;
};

}  // namespace

ByteSource ByteSource::of_fd(int fd) {
  struct stat st;
  ByteSource source;
  source.size = ::fstat(fd, &st) == 0 ? static_cast<uint64_t>(st.st_size) : 0;
  source.read = [fd](uint64_t offset, void* to, size_t size) {
    auto* at = static_cast<char*>(to);
    while (size > 0) {
      const ssize_t got = ::pread(fd, at, size, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got;
      offset += static_cast<uint64_t>(got);
      size -= static_cast<size_t>(got);
    }
    return true;
  };
  return source;
}

ByteSource ByteSource::of_memory(const void* data, size_t size) {
  ByteSource source;
  source.size = size;
  source.read = [data, size](uint64_t offset, void* to, size_t count) {
    if (offset > size || count > size - offset) return false;
    if (count > 0) std::memcpy(to, static_cast<const char*>(data) + offset, count);
    return true;
  };
  return source;
}

Checked<ElfExports> inspect_elf(const ByteSource& file) { return Elf(file).inspect(); }

Checked<void> check_exports(const ElfExports& exports) {
  if (!exports.known) return {};
  const auto& majors = exports.entries;
  if (std::find(majors.begin(), majors.end(), BH_ABI_MAJOR) != majors.end()) return {};
  if (majors.empty()) {
    return refuse(LoadStage::abi,
                  "not a plugin: it does not export " + std::string(kEntryStem) +
                      std::to_string(BH_ABI_MAJOR),
                  "name the plugin's library in plugin.json, or " +
                      ask_author("export the entry with BH_EXPORT"));
  }
  return refuse(LoadStage::abi,
                "built for plugin ABI " +
                    std::to_string(*std::max_element(majors.begin(), majors.end())) +
                    "; this host speaks " + std::to_string(BH_ABI_MAJOR),
                "install the version of the plugin that was made for this host");
}

}  // namespace bh
