// Our own look at a shared library before anything loads it: which machine it is for, what it
// exports, what it needs. Reads the header, the program headers and the dynamic section, never the
// section headers (a stripped library has none, a forged one lies), with every offset checked
// against the file and every size capped. Bytes come by pread: a mapped file that is cut short
// meanwhile would be a SIGBUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "loader/finding.h"

namespace bh {

// A file, or in tests and fuzzing a piece of memory. read() fills all of `size` or says false.
struct ByteSource {
  uint64_t size = 0;
  std::function<bool(uint64_t offset, void* to, size_t size)> read;

  static ByteSource of_fd(int fd);
  static ByteSource of_memory(const void* data, size_t size);
};

struct ElfExports {
  bool known = false;             // false: no symbols found, which says nothing
  std::vector<uint32_t> entries;  // majors of bh_plugin_entry_vN
  size_t others = 0;
};

// Refuses (stage elf) what cannot be a library of this machine. [any]
Checked<ElfExports> inspect_elf(const ByteSource& file);

// Refuses (stage abi) a library whose exports are known and lack this host's entry. [any]
Checked<void> check_exports(const ElfExports& exports);

}  // namespace bh
