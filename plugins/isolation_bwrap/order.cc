#include "prepare.h"

#include <sys/resource.h>

#include <algorithm>

namespace bwrap {

using isolation::Fd;
using isolation::mark;

namespace {

// A new /proc tells of the sandbox's own processes, and in these files of the whole machine.
constexpr const char* kOfTheMachine[] = {
    "/proc/cmdline", "/proc/kallsyms",      "/proc/kcore",      "/proc/keys",
    "/proc/kmsg",    "/proc/latency_stats", "/proc/timer_list", "/proc/sched_debug"};

bool is_file(const char* path) {
  struct stat st {};
  return ::lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

// Collects descriptors of the host's that go along, and tells their marks.
class Extras {
 public:
  explicit Extras(Order& order) : order_(order) {}
  std::string add(Fd fd) {
    order_.launch.extra.push_back(fd.get());
    order_.held.push_back(std::move(fd));
    return mark('x', static_cast<uint32_t>(order_.launch.extra.size() - 1));
  }

 private:
  Order& order_;
};

// The view in bubblewrap's own words, in its order.
void add_view(const View& view, uint64_t shm_bytes, std::vector<std::string>& out) {
  using isolation::Node;
  auto put = [&](std::initializer_list<std::string> words) {
    out.insert(out.end(), words.begin(), words.end());
  };
  for (const auto& [target, node] : view.steps) {
    switch (node.kind) {
      case Node::kHost:
        put({target == "/" ? "--ro-bind" : "--ro-bind-try", target, target});
        break;
      case Node::kSource: {
        const bool ro = view.sources[node.source].read_only != 0;
        put({ro ? "--ro-bind-fd" : "--bind-fd", mark('s', static_cast<uint32_t>(node.source)),
             target});
        break;
      }
      case Node::kEmpty:
        if (target != "/") put({"--perms", "0755", "--tmpfs", target});
        break;
      case Node::kNothing:
        put({"--ro-bind", "/dev/null", target});
        break;
      case Node::kLink:
        put({"--symlink", node.link, target});
        break;
      case Node::kProc:
        put({"--proc", target});
        for (const char* file : kOfTheMachine) {
          if (is_file(file)) put({"--ro-bind", "/dev/null", file});
        }
        break;
      case Node::kDevices:
        put({"--dev", target});
        break;
      case Node::kShared:
        put({"--perms", "1777", "--size", std::to_string(shm_bytes), "--tmpfs", target});
        break;
      case Node::kReadOnly:
      case Node::kWritable:
        break;
    }
  }
  for (const auto& target : view.seal) put({"--remount-ro", target});
}

}  // namespace

sdk::Result<Order> make_order(OrderRequest r) {
  Order order;
  Extras extras(order);
  isolation::Job& job = order.launch.job;
  std::vector<std::string>& a = job.arguments;
  auto put = [&](std::initializer_list<std::string> words) {
    a.insert(a.end(), words.begin(), words.end());
  };
  // Also when we are root: capabilities are dropped and a user namespace stands in between.
  put({"--unshare-all", "--unshare-user", "--cap-drop", "ALL", "--new-session", "--die-with-parent",
       "--as-pid-1"});
  if (r.profile->network == isolation::Network::kUnrestricted) put({"--share-net"});
  if (r.tools->features.has("--disable-userns")) put({"--disable-userns"});
  put({"--uid", std::to_string(r.who->inside_uid), "--gid", std::to_string(r.who->inside_gid),
       "--hostname", "sandbox"});
  add_view(*r.view, shm_bytes(r.profile->limits), a);
  for (const auto& [path, text] : isolation::name_files(*r.profile, *r.who, r.view->home)) {
    Fd file = isolation::memory_file("names", text);
    if (file) put({"--perms", "0444", "--ro-bind-data", extras.add(std::move(file)), path});
  }
  put({"--seccomp", extras.add(isolation::reopen(r.tools->filter.get()))});
  put({"--chdir", "/"});

  auto role = [](isolation::FdRole one) { return mark('r', one); };
  job.program = {r.tools->features.program,
                 "--args",
                 mark('a', 0),
                 "--",
                 "/proc/self/fd/" + role(isolation::kFdInit),
                 "init",
                 role(isolation::kFdTask),
                 role(isolation::kFdControl),
                 role(isolation::kFdIn),
                 role(isolation::kFdOut),
                 role(isolation::kFdErr)};
  if (!r.cgroup_doors.empty() && !r.tools->cgroups.own.empty()) {
    Fd own(::open(r.tools->cgroups.own.c_str(), O_WRONLY | O_CLOEXEC));
    if (own) {
      (void)extras.add(std::move(own));
      job.early_door = static_cast<uint32_t>(order.launch.extra.size() - 1);
    }
  }
  for (Fd& door : r.cgroup_doors) job.program.push_back(extras.add(std::move(door)));
  if (r.who->ids == Ids::kShifted) {
    job.uid = r.who->uid;
    job.gid = r.who->gid;
  }
  job.private_users = r.view->private_users ? 1 : 0;
  job.sources = std::move(r.view->sources);
  for (Fd& fd : r.view->held) order.held.push_back(std::move(fd));
  for (const int fd : order.launch.extra) {
    if (fd < 0) {
      return sdk::failure(BH_RESOURCE_EXHAUSTED, "no more descriptors", "descriptors", {},
                          "raise the limit of open files");
    }
  }
  order.launch.helper = r.tools->helper;
  order.launch.init = r.tools->init.get();
  order.launch.input = r.input;
  isolation::Task& task = order.launch.task;
  task.argv = std::move(r.argv);
  task.env = std::move(r.env);
  task.cwd = std::move(r.cwd);
  task.limits = std::move(r.limits);
  task.limits.push_back({RLIMIT_CORE, 0});
  task.wall_ns = r.wall_ns;
  task.rows = r.rows;
  task.columns = r.columns;
  return order;
}

isolation::LaunchOrder make_check(const Tools& tools, const Identity& who, const View& view) {
  isolation::LaunchOrder order;
  order.helper = tools.helper;
  order.job.check_only = 1;
  order.job.uid = who.uid;
  order.job.gid = who.gid;
  order.job.private_users = view.private_users ? 1 : 0;
  order.job.sources = view.sources;
  return order;
}

}  // namespace bwrap
