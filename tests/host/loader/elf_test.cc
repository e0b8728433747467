// The look at ELF files, over real libraries and over what a forger could make of them.
#include "loader/elf.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "support/catch.h"

namespace {

std::string own_program() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bh::Checked<bh::ElfExports> inspect(const std::string& bytes) {
  return bh::inspect_elf(bh::ByteSource::of_memory(bytes.data(), bytes.size()));
}

// The smallest library: one segment with everything, a dynamic section, two symbols, a SysV hash
// table. All addresses are offsets.
struct Tiny {
  Elf64_Ehdr header{};
  Elf64_Phdr segments[2]{};
  Elf64_Dyn dynamic[6]{};
  Elf64_Sym symbols[3]{};
  uint32_t hash[2] = {1, 3};
  char strings[48] = "\0bh_plugin_entry_v1\0other";

  Tiny() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN;
#if defined(__aarch64__)
    header.e_machine = EM_AARCH64;
#else
    header.e_machine = EM_X86_64;
#endif
    header.e_phoff = offsetof(Tiny, segments);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 2;
    segments[0].p_type = PT_LOAD;
    segments[0].p_filesz = sizeof(Tiny);
    segments[1].p_type = PT_DYNAMIC;
    segments[1].p_offset = offsetof(Tiny, dynamic);
    segments[1].p_filesz = sizeof dynamic;
    set(0, DT_SYMTAB, offsetof(Tiny, symbols));
    set(1, DT_STRTAB, offsetof(Tiny, strings));
    set(2, DT_STRSZ, sizeof strings);
    set(3, DT_HASH, offsetof(Tiny, hash));
    for (int i : {1, 2}) {
      symbols[i].st_name = i == 1 ? 1 : 20;
      symbols[i].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
      symbols[i].st_shndx = 1;
    }
  }

  void set(int i, int64_t tag, uint64_t value) {
    dynamic[i].d_tag = tag;
    dynamic[i].d_un.d_val = value;
  }

  std::string bytes() const { return {reinterpret_cast<const char*>(this), sizeof *this}; }
};

}  // namespace

TEST_CASE("exports are found without section headers") {
  const auto found = inspect(Tiny().bytes());
  REQUIRE(found);
  CHECK(found->known);
  CHECK(found->entries == std::vector<uint32_t>{1});
  CHECK(found->others == 1);
  CHECK(bh::check_exports(*found));
}

TEST_CASE("what cannot be a library of this machine is refused") {
  const auto message = [](const Tiny& tiny) {
    const auto found = inspect(tiny.bytes());
    if (found) return std::string();
    CHECK(found.error().stage == bh::LoadStage::elf);
    CHECK_FALSE(found.error().hint.empty());
    return found.error().message;
  };
  Tiny tiny;
  tiny.header.e_ident[EI_CLASS] = ELFCLASS32;
  CHECK(message(tiny) == "not a shared library: it is built for 32 bits; this host has 64");
  tiny = Tiny();
  tiny.header.e_ident[EI_DATA] = ELFDATA2MSB;
  CHECK(message(tiny) == "not a shared library: its byte order is not this machine's");
  tiny = Tiny();
  tiny.header.e_machine = EM_RISCV;
  CHECK(message(tiny).rfind("built for riscv; this machine is ", 0) == 0);
  tiny = Tiny();
  tiny.header.e_type = ET_EXEC;
  CHECK(message(tiny) == "not a shared library: it is a program");
  tiny = Tiny();
  tiny.header.e_type = ET_REL;
  CHECK(message(tiny) == "not a shared library: its ELF type is 1");
  tiny = Tiny();
  tiny.set(4, DT_FLAGS_1, DF_1_PIE);
  CHECK(message(tiny) == "not a shared library: it is a program");
  tiny = Tiny();
  tiny.header.e_phnum = 0xffff;
  CHECK(message(tiny) == "not a shared library: its program headers are malformed");
  tiny = Tiny();
  tiny.header.e_phoff = UINT64_MAX - 8;
  CHECK(message(tiny) == "not a shared library: its program headers lie outside the file");
  tiny = Tiny();
  tiny.segments[0].p_filesz = UINT64_MAX;
  CHECK(message(tiny).find("outside the file") != std::string::npos);
  tiny = Tiny();
  tiny.segments[1].p_type = PT_NULL;
  CHECK(message(tiny) == "not a shared library: it has no dynamic section");
  CHECK_FALSE(inspect(""));
  CHECK_FALSE(inspect("\177ELF"));
}

TEST_CASE("forged tables mean that nothing is known, and allocate nothing to speak of") {
  const auto known = [](const Tiny& tiny) {
    const auto found = inspect(tiny.bytes());
    REQUIRE(found);
    CHECK(bh::check_exports(*found));
    return found->known;
  };
  Tiny tiny;
  tiny.hash[1] = UINT32_MAX;  // 4,000 million symbols
  CHECK_FALSE(known(tiny));
  tiny = Tiny();
  tiny.set(2, DT_STRSZ, UINT64_MAX);
  CHECK_FALSE(known(tiny));
  tiny = Tiny();
  tiny.set(0, DT_SYMTAB, UINT64_MAX - 3);
  CHECK_FALSE(known(tiny));
  tiny = Tiny();
  tiny.set(3, DT_GNU_HASH, offsetof(Tiny, hash));  // {1 bucket, first symbol 3, ...}
  CHECK_FALSE(known(tiny));
  tiny = Tiny();
  tiny.symbols[1].st_name = tiny.symbols[2].st_name = 4000;
  CHECK_FALSE(known(tiny));
}

TEST_CASE("another major is told from no plugin at all") {
  Tiny tiny;
  std::memcpy(tiny.strings + 1, "bh_plugin_entry_v2", 18);
  auto exports = inspect(tiny.bytes());
  REQUIRE(exports);
  CHECK(bh::check_exports(*exports).error().message ==
        "built for plugin ABI 2; this host speaks 1");
  std::memcpy(tiny.strings + 1, "bh_plugin_entry_vx", 18);
  exports = inspect(tiny.bytes());
  REQUIRE(exports);
  CHECK(bh::check_exports(*exports).error().message.rfind("not a plugin: ", 0) == 0);
}

TEST_CASE("changed and cut bytes never lead outside") {
  // The checks are in the code that is called: the sanitizer flavours watch it. Here it only has to
  // come back with an answer, whatever the bytes are.
  const std::string whole = Tiny().bytes();
  std::mt19937 random(20240611);
  size_t answers = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = whole;
    for (unsigned change = random() % 6; change-- > 0;) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const auto found = inspect(bytes);
    answers += (found || !found.error().message.empty()) ? 1 : 0;
  }
  CHECK(answers == 20000);
}

TEST_CASE("a program is no plugin") {
  const auto found = inspect(own_program());
  REQUIRE_FALSE(found);
  CHECK(found.error().message == "not a shared library: it is a program");
}
