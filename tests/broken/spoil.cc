#include "broken/spoil.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>

#include "base/fd.h"
#include "loader/digest.h"
#include "loader/names.h"

namespace bh_test {
namespace {

namespace fs = std::filesystem;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  size_t at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("nothing to replace: " + from);
  for (; at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The library as bytes that can be changed, written back with a fitting manifest.
class Library {
 public:
  Library(std::string name, std::string folder)
      : bytes(read_file(folder + "/plugin.so")),
        name_(std::move(name)),
        folder_(std::move(folder)) {}

  ~Library() {
    write_file(folder_ + "/plugin.so", bytes, 0755);
    write_manifest(name_, folder_);
  }

  std::string bytes;

  Elf64_Ehdr& header() { return *at<Elf64_Ehdr>(0); }

  template <class T>
  T* at(size_t offset) {
    if (offset + sizeof(T) > bytes.size()) throw std::runtime_error("beyond the library's end");
    return reinterpret_cast<T*>(bytes.data() + offset);
  }

  // What the first entry of that tag in the dynamic section points at. The first segment of a
  // library maps its beginning, so that small addresses are offsets.
  size_t dynamic(int64_t tag) {
    for (unsigned i = 0; i < header().e_phnum; ++i) {
      const auto* segment = at<Elf64_Phdr>(header().e_phoff + i * sizeof(Elf64_Phdr));
      if (segment->p_type != PT_DYNAMIC) continue;
      for (size_t entry = segment->p_offset;; entry += sizeof(Elf64_Dyn)) {
        const auto* dyn = at<Elf64_Dyn>(entry);
        if (dyn->d_tag == tag) return dyn->d_un.d_ptr;
        if (dyn->d_tag == DT_NULL) throw std::runtime_error("no such tag");
      }
    }
    throw std::runtime_error("no dynamic section");
  }

 private:
  std::string name_;
  std::string folder_;
};

void edit_manifest(const std::string& folder, const std::string& from, const std::string& to) {
  const std::string path = folder + "/plugin.json";
  write_file(path, replaced(read_file(path), from, to), 0644);
}

void move_and_link(const std::string& path) {
  const std::string away = path + ".real";
  fs::rename(path, away);
  fs::create_symlink(fs::path(away).filename(), path);
}

using Spoiler = std::function<void(const std::string& folder)>;

const std::map<std::string, Spoiler>& spoilers() {
  static const std::map<std::string, Spoiler> all = {
      {"wrong_machine",
       [](const std::string& folder) {
         Library library("wrong_machine", folder);
         library.header().e_machine =
             library.header().e_machine == EM_AARCH64 ? EM_X86_64 : EM_AARCH64;
       }},
      {"not_elf",
       [](const std::string& folder) {
         Library("not_elf", folder).bytes = "#!/bin/sh\necho a plugin\n";
       }},
      {"program",
       [](const std::string& folder) {
         Library("program", folder).bytes =
             read_file(BH_BINARY_DIR "/libexec/bulkhead/bulkhead-probe");
       }},
      {"cut_short",
       [](const std::string& folder) {
         Library library("cut_short", folder);
         library.bytes.resize(library.bytes.size() / 2);
         // What is cut off must be what is loaded, not the section headers and debug information.
         library.bytes.resize(std::min<size_t>(library.bytes.size(), 6000));
       }},
      {"forged_sections",
       [](const std::string& folder) {
         Library library("forged_sections", folder);
         for (unsigned i = 0; i < library.header().e_shnum; ++i) {
           const size_t offset = library.header().e_shoff + i * sizeof(Elf64_Shdr);
           library.at<Elf64_Shdr>(offset)->sh_size = uint64_t{1} << 60;
         }
       }},
      {"no_sections",
       [](const std::string& folder) {
         Library library("no_sections", folder);
         library.bytes.resize(library.header().e_shoff);
         library.header().e_shoff = 0;
         library.header().e_shnum = library.header().e_shstrndx = 0;
       }},
      {"forged_hash",
       [](const std::string& folder) {
         Library library("forged_hash", folder);
         *library.at<uint32_t>(library.dynamic(DT_GNU_HASH)) = UINT32_MAX;
       }},
      {"group_writable",
       [](const std::string& folder) { ::chmod((folder + "/plugin.so").c_str(), 0775); }},
      {"folder_writable", [](const std::string& folder) { ::chmod(folder.c_str(), 0777); }},
      {"bad_hash",
       [](const std::string& folder) {
         std::ofstream(folder + "/plugin.so", std::ios::app | std::ios::binary) << '\n';
       }},
      {"linked_library", [](const std::string& folder) { move_and_link(folder + "/plugin.so"); }},
      {"linked_folder",
       [](const std::string& folder) {
         // Hidden, so that the scan does not find it by its other name.
         const fs::path away = fs::path(folder).parent_path() / ".linked_folder";
         fs::rename(folder, away);
         fs::create_directory_symlink(away.filename(), folder);
       }},
      {"dotdot",
       [](const std::string& folder) {
         edit_manifest(folder, "\"plugin.so\"", "\"../good/plugin.so\"");
       }},
      {"bad_json",
       [](const std::string& folder) {
         const std::string path = folder + "/plugin.json";
         const std::string text = read_file(path);
         write_file(path, text.substr(0, text.size() / 2), 0644);
       }},
      {"unknown_key",
       [](const std::string& folder) {
         edit_manifest(folder, "\"vendor\"", "\"colour\": \"red\", \"vendor\"");
       }},
      {"other_platform",
       [](const std::string& folder) {
         edit_manifest(folder, std::string(bh::own_platform()), "linux-m68k");
       }},
      {"newer_host",
       [](const std::string& folder) {
         edit_manifest(folder, "\"min_minor\": 0", "\"min_minor\": 9");
       }},
      {"no_library", [](const std::string& folder) { fs::remove(folder + "/plugin.so"); }},
      {"same_id",
       [](const std::string& folder) {
         edit_manifest(folder, "org.example.same_id", "org.example.good");
       }},
  };
  return all;
}

}  // namespace

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const std::string& path, const std::string& content, unsigned mode) {
  fs::remove(path);
  std::ofstream(path, std::ios::binary) << content;
  ::chmod(path.c_str(), mode);
}

void write_manifest(const std::string& name, const std::string& folder) {
  bh::Fd library(::open((folder + "/plugin.so").c_str(), O_RDONLY | O_CLOEXEC));
  const auto sha256 = bh::sha256_of(library.get());
  if (!sha256) throw std::runtime_error("no hash of " + folder);
  std::string text = read_file(BH_SOURCE_DIR "/tests/broken/plugin.json.in");
  text = replaced(text, "@NAME@", name);
  text = replaced(text, "@PLATFORM@", std::string(bh::own_platform()));
  text = replaced(text, "@SHA256@", *sha256);
  write_file(folder + "/plugin.json", text, 0644);
}

void spoil(const std::string& name, const std::string& folder) {
  const auto found = spoilers().find(name);
  if (found != spoilers().end()) found->second(folder);
}

}  // namespace bh_test
