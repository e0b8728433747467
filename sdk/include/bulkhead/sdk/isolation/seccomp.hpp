// bulkhead/sdk/isolation/seccomp.hpp - the system calls that no sandboxed program needs and that
// have led out of sandboxes, as a filter. They answer EPERM, never a kill: tools try and go on.
// Link libseccomp.
#ifndef BULKHEAD_SDK_ISOLATION_SECCOMP_HPP
#define BULKHEAD_SDK_ISOLATION_SECCOMP_HPP

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <initializer_list>

#include "../result.hpp"
#include "fd.hpp"

namespace bulkhead::sdk::isolation {

namespace detail {

// Names, so that one which this architecture does not have is left out.
constexpr const char* kDeniedCalls[] = {
    // other processes' memory and descriptors
    "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp", "process_madvise",
    // kernel surface with a history
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "keyctl", "add_key", "request_key", "fanotify_init", "fanotify_mark",
    "lookup_dcookie", "nfsservctl", "vhangup", "syslog", "uselib", "_sysctl", "sysfs", "ustat",
    "move_pages", "migrate_pages", "get_mempolicy", "mbind", "set_mempolicy_home_node",
    "modify_ldt", "iopl", "ioperm", "pciconfig_read", "pciconfig_write", "pciconfig_iobase",
    // mounts, namespaces, file handles
    "mount", "umount", "umount2", "pivot_root", "chroot", "setns", "open_tree", "move_mount",
    "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "open_by_handle_at",
    "name_to_handle_at",
    // the machine
    "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
    "create_module", "get_kernel_syms", "query_module", "reboot", "swapon", "swapoff", "acct",
    "quotactl", "quotactl_fd", "settimeofday", "stime", "clock_settime", "clock_settime64",
    "clock_adjtime", "clock_adjtime64", "adjtimex"};

// The same number on every architecture that matters, and unknown to older libseccomp by name.
constexpr int kDeniedNumbers[] = {442 /* mount_setattr */, 443 /* quotactl_fd */,
                                  467 /* open_tree_attr */};

constexpr uint64_t kNewNamespaces[] = {0x00000080 /* time */, CLONE_NEWNS,  CLONE_NEWCGROUP,
                                       CLONE_NEWUTS,          CLONE_NEWIPC, CLONE_NEWUSER,
                                       CLONE_NEWPID,          CLONE_NEWNET};

// A condition on one argument. libseccomp's own macros leave members unset, which clang warns of.
inline scmp_arg_cmp argument(unsigned number, scmp_compare op, uint64_t a, uint64_t b = 0) {
  scmp_arg_cmp out{};
  out.arg = number;
  out.op = op;
  out.datum_a = a;
  out.datum_b = b;
  return out;
}

// Which argument of a call holds the mode of a file, and which the flags that make the mode count.
struct ModeCall {
  int number;
  unsigned mode;
  int flags;  // -1: it counts always
};

inline scmp_arg_cmp all_set(unsigned number, uint64_t bits) {
  return argument(number, SCMP_CMP_MASKED_EQ, bits, bits);
}

// What a command writes belongs on the host to the owner of the folder, root perhaps. A file that
// runs as its owner or group would hand that on to whoever on the host starts it, so none is made.
template <class Add>
void deny_set_ids(Add add, uint32_t no) {
  auto number = [](const char* name) { return ::seccomp_syscall_resolve_name(name); };
  const ModeCall calls[] = {{number("chmod"), 1, -1},    {number("fchmod"), 1, -1},
                            {number("fchmodat"), 2, -1}, {452 /* fchmodat2 */, 2, -1},
                            {number("creat"), 1, -1},    {number("mknod"), 1, -1},
                            {number("mknodat"), 2, -1},  {number("open"), 2, 1},
                            {number("openat"), 3, 2}};
  for (const ModeCall& c : calls) {
    for (const uint64_t bit : {uint64_t{S_ISUID}, uint64_t{S_ISGID}}) {
      if (c.flags < 0) {
        add(no, c.number, {all_set(c.mode, bit)});
        continue;
      }
      // Without a file to make, the register of the mode holds anything.
      for (const uint64_t makes : {uint64_t{O_CREAT}, uint64_t{O_TMPFILE & ~O_DIRECTORY}}) {
        add(no, c.number, {all_set(static_cast<unsigned>(c.flags), makes), all_set(c.mode, bit)});
      }
    }
  }
  // Its mode lies in memory, where a filter cannot look; whoever uses it falls back to openat.
  add(SCMP_ACT_ERRNO(ENOSYS), 437 /* openat2 */, {});
}

}  // namespace detail

// The filter as a file that starts with its first instruction, as bubblewrap's --seccomp reads it.
inline Result<Fd> seccomp_program() {
  struct Filter {
    scmp_filter_ctx ctx = ::seccomp_init(SCMP_ACT_ALLOW);
    ~Filter() {
      if (ctx != nullptr) ::seccomp_release(ctx);
    }
  } filter;
  using detail::argument;
  const uint32_t no = SCMP_ACT_ERRNO(EPERM);
  int bad = filter.ctx == nullptr ? -ENOMEM : 0;
  auto add = [&](uint32_t action, int call, std::initializer_list<scmp_arg_cmp> when = {}) {
    if (bad != 0 || call == __NR_SCMP_ERROR) return;
    const int st = ::seccomp_rule_add_array(filter.ctx, action, call,
                                            static_cast<unsigned>(when.size()), when.begin());
    // A call that is there under two names is there twice.
    if (st != 0 && st != -EEXIST && st != -EDOM) bad = st;
  };
  auto named = [](const char* name) { return ::seccomp_syscall_resolve_name(name); };
  // Other architectures of the same machine, x32 among them.
  if (bad == 0) bad = ::seccomp_attr_set(filter.ctx, SCMP_FLTATR_ACT_BADARCH, no);
  if (bad == 0) bad = ::seccomp_attr_set(filter.ctx, SCMP_FLTATR_CTL_NNP, 0);
  for (const char* name : detail::kDeniedCalls) add(no, named(name));
  for (const int number : detail::kDeniedNumbers) add(no, number);
  // Its flags lie in memory, where a filter cannot look; libc falls back to clone.
  add(SCMP_ACT_ERRNO(ENOSYS), named("clone3"));
  for (const uint64_t flag : detail::kNewNamespaces) {
    // In clone the lowest bits are the signal to send at the end.
    if (flag > 0xFF) add(no, named("clone"), {argument(0, SCMP_CMP_MASKED_EQ, flag, flag)});
    add(no, named("unshare"), {argument(0, SCMP_CMP_MASKED_EQ, flag, flag)});
  }
  // Typing into a terminal, pasting into a console, changing a line discipline. The kernel looks at
  // the lower half of the request alone.
  for (const uint64_t request : {0x5412u, 0x541Cu, 0x5423u}) {
    add(no, named("ioctl"), {argument(1, SCMP_CMP_MASKED_EQ, 0xFFFFFFFFu, request)});
  }
  // Address families: local, IPv4, IPv6, and netlink for routes; AF_VSOCK is the way to the
  // hypervisor. A pair asks the family for a socket too, which loads its module.
  for (const char* call : {"socket", "socketpair"}) {
    for (unsigned family = 0; family <= 45; ++family) {
      if (family == AF_UNIX || family == AF_INET || family == AF_INET6) continue;
      if (family == AF_NETLINK) {
        add(no, named(call), {argument(0, SCMP_CMP_EQ, family), argument(2, SCMP_CMP_NE, 0)});
      } else {
        add(no, named(call), {argument(0, SCMP_CMP_EQ, family)});
      }
    }
    add(no, named(call), {argument(0, SCMP_CMP_GT, 45)});
  }
  // Protocols of IPv4 and IPv6 with a history, whose modules load on demand.
  for (const unsigned protocol : {33u /* DCCP */, 115u /* L2TP */, 132u /* SCTP */,
                                  136u /* UDP-Lite */, 256u /* SMC */}) {
    add(no, named("socket"), {argument(2, SCMP_CMP_EQ, protocol)});
  }
  detail::deny_set_ids(add, no);
  // Address space randomisation off, or readable means executable: in any combination, but for the
  // question 0xffffffff, which has all bits.
  for (const uint32_t bit : {0x0040000u, 0x0400000u}) {
    add(no, named("personality"), {argument(0, SCMP_CMP_MASKED_EQ, 0x80000000u | bit, bit)});
  }
  Fd file = memory_file("seccomp", "");
  if (bad == 0 && file) bad = ::seccomp_export_bpf(filter.ctx, file.get());
  if (bad != 0 || !file || ::lseek(file.get(), 0, SEEK_SET) != 0) {
    return failure(BH_INTERNAL, "the seccomp filter cannot be made: error " + std::to_string(-bad),
                   "seccomp");
  }
  return file;
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_SECCOMP_HPP
