#include "loader/load.h"

// Boost.DLL over std::filesystem: Boost's own would be one more library to link.
#define BOOST_DLL_USE_STD_FS
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <boost/dll/shared_library.hpp>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace bh {
namespace {

namespace dll = boost::dll;

// NODELETE has no name in Boost.DLL 1.81; its modes are the system's flags, so or-ing works.
constexpr auto kMode = static_cast<dll::load_mode::type>(RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

// One load at a time, and handles that no destructor ever closes: thread-locals and atexit
// functions of a plugin point into its code until the process ends.
std::mutex& load_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

void keep_for_ever(dll::shared_library library) {
  static auto* libraries = new std::vector<dll::shared_library>;
  libraries->push_back(std::move(library));
}

struct Mapped {
  unsigned device_major = 0, device_minor = 0;
  unsigned long long inode = 0;
  bool operator==(const Mapped&) const = default;
};

// Which file the kernel says is mapped at each of two addresses.
struct Mappings {
  std::optional<Mapped> first, second;
};

Mappings mapped_at(const void* first, const void* second) {
  Mappings found;
  std::unique_ptr<FILE, int (*)(FILE*)> maps(std::fopen("/proc/self/maps", "re"), &std::fclose);
  if (!maps) return found;
  char* line = nullptr;
  size_t room = 0;
  while (::getline(&line, &room, maps.get()) > 0) {
    unsigned long begin = 0, end = 0;
    Mapped file;
    if (std::sscanf(line, "%lx-%lx %*4s %*x %x:%x %llu", &begin, &end, &file.device_major,
                    &file.device_minor, &file.inode) != 5) {
      continue;
    }
    const auto holds = [&](const void* address) {
      const auto value = reinterpret_cast<unsigned long>(address);
      return value >= begin && value < end;
    };
    if (holds(first)) found.first = file;
    if (holds(second)) found.second = file;
  }
  std::free(line);
  return found;
}

// Is the code at `address` from the file behind `fd`? Both are compared as the kernel shows mapped
// files: overlayfs and btrfs answer stat() with other device numbers than they map under. The page
// mapped for it is never read, so that a file cut short is no danger.
bool comes_from(int fd, const void* address) {
  void* page = ::mmap(nullptr, 1, PROT_READ, MAP_PRIVATE, fd, 0);
  if (page == MAP_FAILED) return false;
  const Mappings found = mapped_at(address, page);
  ::munmap(page, 1);
  if (found.first && found.second) return found.first == found.second;
  // Without /proc: the file that now has the library's name.
  Dl_info info;
  struct stat loaded, hashed;
  return ::dladdr(address, &info) != 0 && ::stat(info.dli_fname, &loaded) == 0 &&
         ::fstat(fd, &hashed) == 0 && loaded.st_dev == hashed.st_dev &&
         loaded.st_ino == hashed.st_ino;
}

bool unchanged(const struct stat& before, const struct stat& after) {
  return before.st_size == after.st_size && before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
         before.st_mtim.tv_nsec == after.st_mtim.tv_nsec &&
         before.st_ctim.tv_sec == after.st_ctim.tv_sec &&
         before.st_ctim.tv_nsec == after.st_ctim.tv_nsec;
}

// Boost.DLL's text is "boost::dll::shared_library::load() failed: Bad file descriptor (dlerror
// system message: TEXT)"; what helps is TEXT.
std::string linkers_text(const std::string& what) {
  static const std::string kMark = "dlerror system message: ";
  const size_t at = what.find(kMark);
  if (at == std::string::npos) return what;
  std::string text = what.substr(at + kMark.size());
  const size_t end = text.rfind(')');
  if (end != std::string::npos) text.resize(end);
  return text;
}

std::string text_between(const std::string& text, const std::string& before,
                         const std::string& after) {
  const size_t begin = text.find(before);
  if (begin == std::string::npos) return {};
  const size_t from = begin + before.size();
  return text.substr(from, text.find(after, from) - from);
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

std::string load_hint(const std::string& text, const std::string& path) {
  if (contains(text, "static TLS")) {
    return "it wants thread-local storage of the kind that only programs can give; build it with "
           "-ftls-model=global-dynamic, or load it before other libraries";
  }
  if (contains(text, "cannot open shared object file")) {
    const std::string missing = text.substr(0, text.find(": "));
    if (missing != path) return "install the package that brings " + missing;
  }
  if (contains(text, "undefined symbol: ")) {
    const std::string symbol = text_between(text, "undefined symbol: ", ",");
    return "it uses " + symbol.substr(0, symbol.find_first_of(" \n")) +
           ", which neither it nor a library it names has; link what is missing, or rebuild it for "
           "this system";
  }
  if (contains(text, "version `")) {
    return "it was built on a newer system than this; rebuild it here or take another build";
  }
  if (contains(text, "failed to map segment")) {
    return "the filesystem it lies on may be mounted noexec, or a security module forbids mapping "
           "it as code";
  }
  if (contains(text, "executable stack")) {
    return ask_author("link it with -Wl,-z,noexecstack");
  }
  if (contains(text, "cannot open shared object file")) {
    return "install the plugin again: its library has gone since it was checked";
  }
  // Not ldd(1): it may run what it looks at.
  return "compare what `readelf -d " + path +
         "` says it needs with what is installed, or rebuild the plugin on this system";
}

Checked<PluginEntry> load_library(const File& library) {
  struct statvfs filesystem;
  if (::fstatvfs(library.fd.get(), &filesystem) == 0 && (filesystem.f_flag & ST_NOEXEC) != 0) {
    return refuse(LoadStage::load, "lies on a filesystem that is mounted noexec",
                  "move the plugin, or mount that filesystem with exec");
  }
  struct stat before, after;
  if (::fstat(library.fd.get(), &before) != 0) {
    return broken(LoadStage::load, "its file cannot be looked at",
                  hint_for_errno(errno, library.path));
  }

  std::lock_guard<std::mutex> lock(load_mutex());
  static const std::string kEntryName = "bh_plugin_entry_v" + std::to_string(BH_ABI_MAJOR);
  PluginEntry entry = nullptr;
  try {
    dll::shared_library loaded;
    loaded.load(library.path, kMode);
    if (loaded.has(kEntryName)) entry = &loaded.get<const bh_plugin*(bh_call*)>(kEntryName);
    keep_for_ever(std::move(loaded));
  } catch (const std::exception& error) {
    // Only the throwing overload carries the dynamic linker's text.
    const std::string text = linkers_text(error.what());
    return broken(LoadStage::load, text, load_hint(text, library.path));
  } catch (...) {
    return broken(LoadStage::load, "an initialiser of the library threw",
                  ask_author("catch every exception of the library's static objects"));
  }
  if (entry == nullptr) {
    return refuse(LoadStage::abi, "not a plugin: it does not export " + kEntryName,
                  "name the plugin's library in plugin.json, or " +
                      ask_author("export the entry with BH_EXPORT"));
  }
  if (!comes_from(library.fd.get(), reinterpret_cast<const void*>(entry))) {
    return refuse(LoadStage::load,
                  "the process has another file of this name mapped, or the file was replaced "
                  "while it was loaded",
                  "restart the program that uses the library");
  }
  if (::fstat(library.fd.get(), &after) != 0 || !unchanged(before, after)) {
    return refuse(LoadStage::load, "the file changed while it was loaded",
                  "restart the program when the update has ended");
  }
  return entry;
}

}  // namespace bh
