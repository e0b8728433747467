// Mounts, devices, the kernel's settings, and the folders that a sandbox has of its own.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "row.h"

using namespace bh_test;
namespace fs = std::filesystem;

BH_ROW("F16", "the root is not made writable again") {
  row.calls_refused({"remount_rw", "mount"});
  Cell cell(row.backend());
  const Ran ran = cell.sh(
      "mount -o remount,rw / && echo remounted; mount -o remount,rw,bind / && echo remounted; "
      "touch /usr/bulkhead-x && echo written; touch /etc/bulkhead-x && echo written; exit 0");
  CHECK(ran.out.empty());
  CHECK_FALSE(exists("/usr/bulkhead-x"));
}

BH_ROW("F17", "no nested namespace takes a mask off") {
  row.attacks("refused", [](Cell& c) {
    c.folder.write("work/secret/key", "KEY");
    const std::string secret = c.work + "/secret";
    c.more_ = R"(,"files":[)" + rule(secret, "hide") + "]";
    c.spoken_of_by({"files:" + secret});
    return Ways{
        {"namespace", "unshare -Urm true"},
        {"unmount", "unshare -Urm sh -c 'umount " + secret + "; umount -l " + secret +
                        "; grep -q KEY " + secret + "/key'"},
        {"bind", "unshare -Urm sh -c 'mkdir b; mount --rbind . b; grep -q KEY b/secret/key'"}};
  });
  row.calls_refused({"umount", "unshare_user", "clone_user"});
}

BH_ROW("F18", "neither mounts nor file handles nor another root") {
  row.calls_refused({"mount", "umount", "pivot_root", "chroot", "fsopen", "open_tree_clone",
                     "move_mount", "mount_setattr", "open_by_handle_at", "mknod_device"});
}

BH_ROW("F19", "the machine's devices are not there") {
  const Names names = {"kmsg", "mem", "port",    "fuse",    "vsock",       "kvm",  "loop-control",
                       "vda",  "sda", "nvme0n1", "net/tun", "userfaultfd", "tty0", "hwrng"};
  row.attacks(
      "hidden",
      [&](Cell& c) {
        c.spoken_of_by({"isolation.devices"});
        Ways ways;
        for (const auto& name : names) {
          const std::string path = "/dev/" + name;
          const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
          const bool opens = fd >= 0;
          ::close(fd);
          ways.push_back(
              {name, "./probe read " + path + " | grep -q ok", opens ? Way::kAll : Way::kNobody});
        }
        return ways;
      },
      [](Cell& c) {
        CHECK(c.sh("echo x > /dev/null && head -c 4 /dev/urandom | wc -c && head -c 1 /dev/zero | "
                   "wc -c")
                  .out == "4\n1\n");
      });
}

BH_ROW("F20", "the kernel's settings are not opened for writing") {
  row.attacks("refused", [](Cell& c) {
    c.spoken_of_by({"isolation.kernel_settings"});
    Ways ways;
    for (const std::string path :
         {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/panic_on_oom",
          "/proc/sys/kernel/sysrq", "/proc/sysrq-trigger", "/proc/irq/default_smp_affinity",
          "/proc/sys/fs/binfmt_misc/register", "/sys/kernel/uevent_helper", "/sys/power/state",
          "/sys/kernel/mm/transparent_hugepage/enabled"}) {
      if (exists(path))
        ways.push_back({path, "./probe write " + path + " | grep -q ok", Way::kRoot});
    }
    ways.push_back(
        {"release_agent or another file of a control group",
         "find /sys/fs/cgroup -name release_agent -o -name cgroup.procs | head -5 | while "
         "read f; do ./probe write $f; done | grep -q ok",
         Way::kRoot});
    return ways;
  });
  if (!row.as_root()) row.no_control("files that only root may write");
}

BH_ROW("F21", "rules hold on a file system that is mounted inside the workspace") {
  if (!row.as_root()) BH_ROW_SKIP("an ordinary user mounts nothing");
  OpenFolder folder;
  const std::string backend = row.backend();
  const std::string seen = in_child([&]() -> std::string {
    // What is mounted here goes with this process.
    if (::unshare(CLONE_NEWNS) != 0) return "unshare";
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return "private";
    const std::string work = folder.make("work"), sub = folder.make("work/sub");
    if (::mount("none", sub.c_str(), "tmpfs", 0, "mode=0777") != 0) return "mount";
    folder.write("work/sub/secret/key", "KEY");
    folder.write("work/sub/kept/file", "x");
    folder.write("work/sub/shown", "shown");
    std::string out;
    for (const std::string& provider : {std::string("process"), backend}) {
      Backend b(provider);
      const std::string profile = R"({"workspace":{"source":)" + quote(work) + R"(},"files":[)" +
                                  rule(sub + "/secret", "hide") + "," + rule(sub + "/kept", "ro") +
                                  "]}";
      if (b.create("s1", profile) != BH_OK) return "create: " + b.message;
      const std::string rules = rule_status(b.report, "files:" + sub + "/secret");
      out += b.sh("s1",
                  "cat sub/shown; cat sub/secret/key; echo y > sub/kept/file && printf wrote; "
                  "echo z > sub/new && printf new")
                 .out;
      out += provider == "process" ? ";" : ";" + rules;
      (void)b.destroy("s1");
    }
    return out;
  });
  CAPTURE(seen);
  CHECK(seen.rfind("shownKEYwrotenew;", 0) == 0);
  const std::string inside = seen.substr(std::min(seen.size(), seen.find(';') + 1));
  if (inside == "shownnew;enforced") {
    row.is("refused");
  } else if (inside == "shown;enforced") {
    row.is("refused");
    row.note("this kernel cannot mount that file system with other ids: it is not written to either");
  } else {
    const std::string told = inside.substr(inside.rfind(';') + 1);
    CHECK((told == "partial" || told == "unsupported"));
    row.is("not enforced (told)");
    row.note("files is " + told);
  }
}

BH_ROW("F22", "/tmp and shared memory are the sandbox's own, work, and are limited") {
  Cell cell(row.backend(), R"(,"limits":{"memory_bytes":67108864})");
  REQUIRE(cell.make() == BH_OK);
  CHECK(cell.sh("t=${TMPDIR:-/tmp}; echo x > $t/f && cat $t/f").out == "x\n");
  const Ran python = cell.sh(
      "command -v python3 >/dev/null || exit 9; python3 -c 'import multiprocessing as m; "
      "l=m.Lock(); q=m.Queue(); q.put(7); print(q.get())'");
  if (python.exit.exit_code != 9 && python.out != "7\n") {
    // Locks between processes take shared memory, of which a backend may have none.
    const std::string why = rule_reason(cell.report, "isolation.ipc");
    CHECK(why.find("semaphores are refused") != std::string::npos);
    row.note("no locks between processes: " + why);
  }
  if (!row.has_mounts()) return row.is("works");
  const Ran ran = cell.sh(
      "echo x > /dev/shm/f && echo $TMPDIR; touch /dev/f 2>/dev/null && echo dev; df -k /dev/shm | "
      "tail -1 | tr -s ' ' | cut -d' ' -f2");
  CHECK(ran.out == "/tmp\n32768\n");
  row.is("limited");
}

BH_ROW("F23", "predictable files in the host's /tmp are out of reach") {
  OpenFolder shared("/tmp");
  ::chmod(shared.path().c_str(), 0777);
  row.attacks("hidden", [&](Cell& c) {
    shared.write("predictable", "KEY");
    ::chmod((shared.path() + "/predictable").c_str(), 0666);
    c.spoken_of_by({"tmp", "isolation.tmp"});
    return Ways{{"read", "grep -q KEY " + shared.path() + "/predictable"},
                {"write", "echo KEY >> " + shared.path() + "/predictable"},
                {"list", "ls -d " + shared.path()},
                {"/var/tmp", "test \"$(stat -c %d:%i /var/tmp)\" = " + [] {
                   struct stat st {};
                   (void)::stat("/var/tmp", &st);
                   return std::to_string(st.st_dev) + ":" + std::to_string(st.st_ino);
                 }()}};
  });
}
