// bulkhead/sdk/isolation/launch_here.hpp - a whole helper program for backends without namespaces: the
// command runs where the helper is, behind whatever wall that puts up around itself first, and its
// whole tree stays in reach, since what a command leaves comes back to this subreaper.
#ifndef BULKHEAD_SDK_ISOLATION_LAUNCH_HERE_HPP
#define BULKHEAD_SDK_ISOLATION_LAUNCH_HERE_HPP

#include <cstdio>
#include <string_view>

#include "launch_init.hpp"
#include "launch_job.hpp"
#include "launch_note.hpp"
#include "launch_watch.hpp"

namespace bulkhead::sdk::isolation {

namespace detail {

inline int launch_trouble(const char* what) {
  std::fprintf(stderr, "launcher: %s\n", what);
  return 1;
}

}  // namespace detail

// main() of such a program. `wall`: bool(std::vector<Fd>& extra, InitFds& init), with what follows
// kFdExtra, before anything is started; false: it does not stand, and nothing runs. `worker`: as Init
// has it, or nullptr.
template <class Wall>
int launch_here(int argc, char** argv, Wall wall, int (*worker)()) {
  constexpr int kSocket = 3;
  ::signal(SIGPIPE, SIG_IGN);
  if (argc < 2 || std::string_view(argv[1]) != "launch") {
    return detail::launch_trouble("this program is started by its plugin");
  }
  (void)::fcntl(kSocket, F_SETFD, FD_CLOEXEC);
  // Whatever of the host's was open without close-on-exec stops here.
  (void)close_range(kSocket + 1, UINT_MAX, 0);
  std::vector<Fd> fds = receive_fds(kSocket);
  Task task;
  std::string bytes;
  if (fds.size() < kFdExtra || !read_all(fds[kFdTask].get(), bytes) || !decode(bytes, task) ||
      task.argv.empty()) {
    return detail::launch_trouble("the task cannot be read");
  }
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return detail::launch_trouble("no subreaper");
  InitFds init;
  init.control = fds[kFdControl].get();
  // Taken over: the init closes them once the command has them.
  init.in = fds[kFdIn].release();
  init.out = fds[kFdOut].release();
  init.err = fds[kFdErr].release();
  init.host = fds[kFdHost].get();
  std::vector<Fd> extra;
  for (size_t i = kFdExtra; i < fds.size(); ++i) extra.push_back(std::move(fds[i]));
  if (!wall(extra, init)) return detail::launch_trouble("the wall cannot be put up");
  const int code = Init(std::move(task), std::move(init), worker).run();
  (void)send_note(kSocket, usage_note());
  return code;
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_LAUNCH_HERE_HPP
