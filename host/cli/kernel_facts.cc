#include "cli/kernel_facts.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <optional>

namespace bh::cli {
namespace {

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  if (!in || !std::getline(in, line)) return std::nullopt;
  return line;
}

KernelFact user_namespaces(const std::string& root) {
  KernelFact fact{"user_namespaces", "no", {}};
  std::optional<std::string> most = first_line(root + "/proc/sys/user/max_user_namespaces");
  if (!most) {
    fact.note = "the kernel was built without them";
  } else if (*most == "0") {
    fact.note = "sysctl user.max_user_namespaces is 0";
  } else if (first_line(root + "/proc/sys/kernel/unprivileged_userns_clone") == "0") {
    fact.value = "root only";
    fact.note = "sysctl kernel.unprivileged_userns_clone is 0";
  } else if (first_line(root + "/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1") {
    fact.value = "restricted";
    fact.note =
        "AppArmor lets only programs with a profile make them "
        "(sysctl kernel.apparmor_restrict_unprivileged_userns)";
  } else {
    fact.value = "yes";
  }
  return fact;
}

KernelFact cgroups(const std::string& root) {
  if (std::optional<std::string> all = first_line(root + "/sys/fs/cgroup/cgroup.controllers")) {
    return {"cgroup", "v2", all->empty() ? "no controllers" : *all};
  }
  std::string found;
  for (const char* name : {"cpu", "memory", "pids", "freezer"}) {
    if (::access((root + "/sys/fs/cgroup/" + name).c_str(), F_OK) == 0) {
      found += (found.empty() ? "" : " ") + std::string(name);
    }
  }
  if (!found.empty()) return {"cgroup", "v1", found};
  return {"cgroup", "no", "limits of memory and processes need one that is mounted"};
}

}  // namespace

std::vector<KernelFact> kernel_facts(const std::string& root) {
  std::vector<KernelFact> facts;
  utsname u{};
  if (::uname(&u) == 0) facts.push_back({"kernel", std::string(u.release) + " " + u.machine, {}});
  facts.push_back({"user", std::to_string(::geteuid()), ::geteuid() == 0 ? "root" : ""});
  facts.push_back(user_namespaces(root));
  facts.push_back(cgroups(root));
  std::optional<std::string> seccomp = first_line(root + "/proc/sys/kernel/seccomp/actions_avail");
  facts.push_back({"seccomp", seccomp ? "yes" : "no", seccomp.value_or("")});
  return facts;
}

}  // namespace bh::cli
