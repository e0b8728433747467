#include "images/worker/confine.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>

#include <bulkhead/sdk/isolation/landlock.hpp>

namespace bh::unpack {
namespace {

namespace sdk = bulkhead::sdk::isolation;
namespace landlock = sdk::landlock;

// To give a file away, to set the rights of one that belongs to another, to write beneath a folder
// of another's.
constexpr unsigned kKept[] = {CAP_CHOWN, CAP_FOWNER, CAP_DAC_OVERRIDE};
// An xz or zstd stream may ask for a large window, a tree of folders for a list of them.
constexpr std::uint64_t kMemory = std::uint64_t{2} << 30;
constexpr std::uint64_t kFiles = 1024;

// The first version lets no file get a second name in another folder, which images have.
constexpr int kLeastLandlock = 2;

Failure no_wall(const std::string& what, int number) {
  return fail(BH_FAILED_PRECONDITION,
              "an image is unpacked only behind walls, and " + fail_errno(number, what).value().message,
              "unpack_confinement");
}

Result<void> limit(const Walls& walls) {
  auto set = [](int what, std::uint64_t most) -> bool {
    rlimit now{};
    if (::getrlimit(static_cast<__rlimit_resource_t>(what), &now) != 0) return false;
    const rlim_t value = std::min<rlim_t>(most, now.rlim_max);
    const rlimit wanted{value, value};
    return ::setrlimit(static_cast<__rlimit_resource_t>(what), &wanted) == 0;
  };
  bool done = set(RLIMIT_CORE, 0) && set(RLIMIT_NOFILE, kFiles) && set(RLIMIT_NPROC, 0) &&
              set(RLIMIT_FSIZE, static_cast<std::uint64_t>(walls.most_bytes));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // A sanitizer's shadow is larger than any limit.
  done = done && set(RLIMIT_AS, kMemory);
#endif
  if (!done) return no_wall("limits cannot be set", errno);
  // A file above the limit is an error of write(), not the end.
  ::signal(SIGXFSZ, SIG_IGN);
  return {};
}

// The version that holds, 0: this kernel has none that will do.
Result<int> restrict_files(const Walls& walls) {
  const int version = sdk::landlock_version();
  if (version < kLeastLandlock) return 0;
  const auto ruleset = landlock::Ruleset::make({~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}});
  if (!ruleset) return no_wall("a Landlock ruleset cannot be made", errno);
  struct stat st {};
  if (::fstat(walls.source, &st) != 0) return no_wall("the source cannot be looked at", errno);
  constexpr std::uint64_t kRead = landlock::kReadFile | landlock::kReadFolder;
  constexpr std::uint64_t kUnpack = kRead | landlock::kWriteFile | landlock::kRemoveFolder |
                                    landlock::kRemoveFile | landlock::kMakeFolder |
                                    landlock::kMakeFile | landlock::kMakeLink | landlock::kMove |
                                    landlock::kTruncate;
  if (S_ISDIR(st.st_mode) && !ruleset.allow(walls.source, kRead)) {
    return no_wall("Landlock does not take the source", errno);
  }
  if (!ruleset.allow(walls.target, kUnpack)) return no_wall("Landlock does not take the target", errno);
  if (!ruleset.enforce()) return no_wall("Landlock does not hold", errno);
  return version;
}

Result<void> drop_capabilities(const Walls& walls) {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct now[2]{};
  if (::syscall(SYS_capget, &head, now) != 0) return no_wall("capabilities cannot be read", errno);
  __user_cap_data_struct kept[2]{};
  for (const unsigned cap : kKept) {
    if (!walls.keep_ids) continue;
    kept[cap / 32].permitted |= now[cap / 32].permitted & (1u << (cap % 32));
  }
  for (__user_cap_data_struct& half : kept) half.effective = half.permitted;
  // Only who has CAP_SETPCAP can and needs to.
  for (unsigned cap = 0; ::prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++) {
    (void)::prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
  }
  (void)::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (::syscall(SYS_capset, &head, kept) != 0) return no_wall("capabilities cannot be dropped", errno);
  return {};
}

struct Filter {
  scmp_filter_ctx ctx = ::seccomp_init(SCMP_ACT_ERRNO(EPERM));
  ~Filter() {
    if (ctx != nullptr) ::seccomp_release(ctx);
  }
};

// What reading an archive and writing files takes, and nothing that reaches anybody: no socket, no
// program, no process, no device, no mount, no attribute, no set-id bit.
Result<void> seccomp() {
  const char* const calls[] = {
      "read", "pread64", "readv", "write", "pwrite64", "writev", "lseek", "close", "close_range",
      "fstat", "newfstatat", "fstatat64", "statx", "openat2", "open", "openat", "getdents64",
      "readlinkat", "mkdirat", "symlinkat", "linkat", "unlinkat", "renameat", "renameat2", "ftruncate",
      "fchownat", "utimensat", "flistxattr", "fcntl", "mmap", "munmap", "mremap", "mprotect",
      "brk", "madvise", "futex", "clock_gettime", "getrandom", "rt_sigaction", "rt_sigprocmask",
      "rt_sigreturn", "sigaltstack", "sched_yield", "getpid", "gettid", "exit", "exit_group", "rseq",
      "set_robust_list", "restart_syscall", "prlimit64", "getrlimit", "sched_getaffinity", "tgkill"};
  Filter filter;
  int bad = filter.ctx == nullptr ? ENOMEM : 0;
  auto add = [&](const char* name, std::initializer_list<scmp_arg_cmp> when) {
    const int number = ::seccomp_syscall_resolve_name(name);
    if (bad != 0 || number == __NR_SCMP_ERROR) return;
    const int st = ::seccomp_rule_add_array(filter.ctx, SCMP_ACT_ALLOW, number,
                                            static_cast<unsigned>(when.size()), when.begin());
    // What this architecture does not have cannot be called either.
    if (st != 0 && st != -EEXIST && st != -EDOM) bad = -st;
  };
  for (const char* name : calls) add(name, {});
  // A mode without the bits that lend a file's owner's rights.
  scmp_arg_cmp plain{};
  plain.arg = 1;
  plain.op = SCMP_CMP_MASKED_EQ;
  plain.datum_a = S_ISUID | S_ISGID;
  plain.datum_b = 0;
  add("fchmod", {plain});
  if (bad == 0) bad = -::seccomp_load(filter.ctx);
  if (bad != 0) return no_wall("the filter of system calls cannot be built", bad);
  return {};
}

}  // namespace

bool can_keep_ids() {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct now[2]{};
  return ::geteuid() == 0 && ::syscall(SYS_capget, &head, now) == 0 &&
         std::all_of(std::begin(kKept), std::end(kKept), [&](unsigned cap) {
           return (now[cap / 32].effective & (1u << (cap % 32))) != 0;
         });
}

Result<json::object> confine(const Walls& walls) {
  json::object holds;
  ::umask(0);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
    return no_wall("privileges cannot be given up", errno);
  }
  BH_TRY(limit(walls));
  auto version = restrict_files(walls);
  if (!version) return tl::unexpected(std::move(version).error());
  holds["landlock"] = *version;
  // Where there is no Landlock, a root's own root is the target; it is a second wall elsewhere.
  const bool moved = ::fchdir(walls.target) == 0 && ::chroot(".") == 0;
  holds["chroot"] = moved;
  BH_TRY(drop_capabilities(walls));
  BH_TRY(seccomp());
  holds["seccomp"] = true;
  return holds;
}

}  // namespace bh::unpack
