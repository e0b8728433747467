// bulkhead-process-launch: the helper program of isolation_process. It runs the command as it is,
// but keeps its whole tree in reach: what the command leaves comes back to this subreaper.
#include <bulkhead/sdk/isolation/files_worker.hpp>
#include <bulkhead/sdk/isolation/launch_init.hpp>
#include <bulkhead/sdk/isolation/launch_job.hpp>
#include <bulkhead/sdk/isolation/launch_note.hpp>
#include <bulkhead/sdk/isolation/launch_watch.hpp>

#include <cstdio>

namespace {

using namespace bulkhead::sdk::isolation;

constexpr int kSocket = 3;

int trouble(const char* what) {
  std::fprintf(stderr, "launcher: %s\n", what);
  return 1;
}

int launch() {
  (void)::fcntl(kSocket, F_SETFD, FD_CLOEXEC);
  // Whatever of the host's was open without close-on-exec stops here.
  (void)close_range(kSocket + 1, UINT_MAX, 0);
  std::vector<Fd> fds = receive_fds(kSocket);
  Task task;
  std::string bytes;
  if (fds.size() < kFdExtra || !read_all(fds[kFdTask].get(), bytes) || !decode(bytes, task) ||
      task.argv.empty()) {
    return trouble("the task cannot be read");
  }
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return trouble("no subreaper");
  InitFds init;
  init.control = fds[kFdControl].get();
  // Taken over: the init closes them once the command has them.
  init.in = fds[kFdIn].release();
  init.out = fds[kFdOut].release();
  init.err = fds[kFdErr].release();
  init.host = fds[kFdHost].get();
  for (size_t i = kFdExtra; i < fds.size(); ++i) init.groups.push_back(fds[i].release());
  const int code = Init(std::move(task), std::move(init), &serve_files).run();
  (void)send_note(kSocket, usage_note());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  if (argc > 1 && std::string_view(argv[1]) == "launch") return launch();
  return trouble("this program is started by the plugin isolation_process");
}
