// bulkhead-probe LIBRARY: loads one plugin, enters it, asks for its interfaces, and ends. What it
// learns goes to descriptor 3 (report.h); started without that it only says what it is.
#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "loader/probe/bare_call.h"
#include "loader/probe/report.h"
#include "loader/unwind.h"

// Crashing here is what a bad plugin is meant to do: no sanitizer takes it for a bug of ours.
#if defined(__SANITIZE_ADDRESS__)
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0";
}
#endif

namespace {

using namespace bh::probe;  // NOLINT: the program is this name space's only user

void say(const std::string& line) {
  const std::string text = line + "\n";
  if (::write(kReportFd, text.data(), text.size()) < 0) ::_exit(1);
}

std::string printed() {
  // What still lies in stdio's buffers was printed, too.
  std::fflush(nullptr);
  struct stat st;
  return std::to_string(::fstat(1, &st) == 0 ? static_cast<long long>(st.st_size) : 0);
}

void limit(__rlimit_resource_t what, rlim_t most) {
  const struct rlimit value = {most, most};
  ::setrlimit(what, &value);
}

// A plugin that runs wild here must not outlive its watcher, fill the disk or leave a core file.
void confine() {
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 1 << 20);
  limit(RLIMIT_CPU, kOwnLimitSeconds);
  ::prctl(PR_SET_DUMPABLE, 0);
  ::alarm(kOwnLimitSeconds);
}

void try_out(const char* path) {
  bh::prepare_unwinder();
  say(kLoading);
  void* library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) return say(kPassed);
  say(kLoaded + (" " + printed()));
  const std::string name = "bh_plugin_entry_v" + std::to_string(BH_ABI_MAJOR);
  auto* entry = reinterpret_cast<const bh_plugin* (*)(bh_call*)>(::dlsym(library, name.c_str()));
  if (entry == nullptr) return say(kPassed);

  BareCall call;
  say(kEntering);
  const bh_plugin* plugin = nullptr;
  try {
    plugin = entry(call.call());
  } catch (...) {
    plugin = nullptr;
  }
  say(kEntered + (" " + printed()));
  if (plugin == nullptr || !BH_HAS(plugin, bh_plugin, get_interface) ||
      plugin->get_interface == nullptr) {
    return say(kPassed);
  }
  say(kAsking);
  for (const char* kind : {"bh.isolation/1", "bh.toolset/1", "bh.browser/1", "bh.filestore/1"}) {
    try {
      plugin->get_interface(kind);
    } catch (...) {
      return say(kPassed);
    }
  }
  say(kDone + (" " + printed()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || ::lseek(kReportFd, 0, SEEK_CUR) < 0) {
    std::fputs("bulkhead-probe: a helper of libbulkhead; not for use by hand\n", stderr);
    return 2;
  }
  ::close_range(kReportFd + 1, ~0U, 0);
  confine();
  try_out(argv[1]);
  // No exit handlers: those of the plugin are not part of the trial.
  ::_exit(0);
}
