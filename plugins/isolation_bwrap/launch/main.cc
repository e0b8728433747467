// bulkhead-bwrap-launch: the helper program of isolation_bwrap.
//
//   launch   (started by the plugin, a socket as descriptor 3) stages mounts, starts bubblewrap
//            under the sandbox's own ids, and watches over it.
//   init     (started by bubblewrap inside the sandbox, as its first process) runs the command.
//
// It reads nothing that a sandbox wrote.
#include <grp.h>
#include <string.h>
#include <bulkhead/sdk/isolation/files_worker.hpp>
#include <bulkhead/sdk/isolation/launch_init.hpp>
#include <bulkhead/sdk/isolation/launch_job.hpp>
#include <bulkhead/sdk/isolation/launch_note.hpp>
#include <bulkhead/sdk/isolation/launch_watch.hpp>

#include <cstdio>
#include <cstdlib>

#include "stage.h"

namespace {

using namespace bulkhead::sdk::isolation;

constexpr int kSocket = 3;

int trouble(const std::string& what) {
  std::fprintf(stderr, "launcher: %s\n", what.c_str());
  return 1;
}

// `text` with its marks replaced by descriptor numbers.
std::string fill(const std::string& text, const std::vector<Fd>& fds,
                 const std::vector<Fd>& sources, int arguments) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t start = text.find(kMark, at);
    out += text.substr(at, start - at);
    if (start == std::string::npos) break;
    const size_t end = text.find(kMark, start + 1);
    const char kind = text[start + 1];
    const size_t index = std::strtoul(text.c_str() + start + 2, nullptr, 10);
    int number = arguments;
    if (kind == 'x') number = fds.at(kFdExtra + index).get();
    if (kind == 'r') number = fds.at(index).get();
    if (kind == 's') number = sources.at(index).get();
    out += std::to_string(number);
    at = end + 1;
  }
  return out;
}

[[noreturn]] void become_wall(const Job& job, const std::vector<Fd>& fds,
                              const std::vector<Fd>& sources, const Fd& arguments,
                              std::vector<std::string>& program, pid_t launcher) {
  // A pipe belongs to whoever made it; /dev/stdout and its like open it anew, as the sandbox's
  // user.
  for (const FdRole one : {kFdIn, kFdOut, kFdErr}) {
    struct stat st {};
    if (job.uid != kNobody && ::fstat(fds[one].get(), &st) == 0 && S_ISFIFO(st.st_mode)) {
      (void)::fchown(fds[one].get(), job.uid, job.gid);
    }
  }
  if (job.gid != kNobody &&
      (::setgroups(0, nullptr) != 0 || ::setresgid(job.gid, job.gid, job.gid) != 0)) {
    ::_exit(trouble(std::string("setting the group: ") + ::strerror(errno)));
  }
  if (job.uid != kNobody && ::setresuid(job.uid, job.uid, job.uid) != 0) {
    ::_exit(trouble(std::string("setting the user: ") + ::strerror(errno)));
  }
  // After the ids, which clear it. If we are an orphan already, nobody would ever tell us.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) ::_exit(1);
  // No key of the host's session can be looked up from a session of its own.
  (void)::syscall(SYS_keyctl, 1, nullptr);
  auto keep = [](int fd) { (void)::fcntl(fd, F_SETFD, 0); };
  for (size_t i = kFdTask; i < fds.size(); ++i) {
    if (i != kFdPeer && i != kFdHost) keep(fds[i].get());
  }
  for (const Fd& fd : sources) keep(fd.get());
  keep(arguments.get());
  std::vector<char*> argv;
  for (auto& s : program) argv.push_back(s.data());
  argv.push_back(nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  char* environment[] = {nullptr};
  ::execve(argv[0], argv.data(), environment);
  ::_exit(trouble(std::string("running ") + argv[0] + ": " + ::strerror(errno)));
}

// In v2 the kernel lets a process join a group only once all processors have passed a quiet moment:
// some ten milliseconds, unless another has just joined one. A child that "joins" the group it is in
// already waits for that beside us, while the sandbox is built.
void open_early(const Job& job, const std::vector<Fd>& fds) {
  if (job.early_door == kNobody || fds.size() <= kFdExtra + job.early_door) return;
  if (::fork() != 0) return;
  (void)!::write(fds[kFdExtra + job.early_door].get(), "0", 1);
  ::_exit(0);
}

int launch_check(const Job& job) {
  launch::Stage stage(job);
  const std::vector<int> answers = stage.check();
  for (size_t i = 0; i < answers.size(); ++i) {
    Note note;
    note.kind = Note::kChecked;
    note.a = static_cast<int32_t>(i);
    note.b = answers[i];
    (void)send_note(kSocket, note);
  }
  return 0;
}

int launch_job() {
  (void)::fcntl(kSocket, F_SETFD, FD_CLOEXEC);
  // Whatever of the host's was open without close-on-exec stops here.
  (void)close_range(kSocket + 1, UINT_MAX, 0);
  (void)!::chdir("/");
  std::vector<Fd> fds = receive_fds(kSocket);
  Job job;
  std::string bytes;
  if (fds.empty() || !read_all(fds[kFdJob].get(), bytes) || !decode(bytes, job)) {
    return trouble("the job cannot be read");
  }
  if (job.check_only != 0) return launch_check(job);
  if (fds.size() < kFdExtra) return trouble("descriptors are missing");
  const Fd signals = watch_signals();
  if (!signals || ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
    return trouble("cannot watch over children");
  }
  open_early(job, fds);
  launch::Stage stage(job);
  if (!stage.build()) return trouble(stage.error());

  Fd arguments;
  std::string text;
  for (const auto& s : job.arguments) {
    text += fill(s, fds, stage.sources(), -1);
    text += '\0';
  }
  arguments = memory_file("arguments", text);
  if (!arguments) return trouble("no memory file");
  std::vector<std::string> program;
  for (const auto& s : job.program) {
    program.push_back(fill(s, fds, stage.sources(), arguments.get()));
  }
  const pid_t launcher = ::getpid();
  const pid_t wall = ::fork();
  if (wall < 0) return trouble(std::string("fork: ") + ::strerror(errno));
  if (wall == 0) become_wall(job, fds, stage.sources(), arguments, program, launcher);
  // The ends of the pipes are the command's alone.
  for (const FdRole role : {kFdIn, kFdOut, kFdErr, kFdControl, kFdTask}) fds[role].reset();
  watch(wall, signals.get(), kSocket, fds[kFdHost].get(), fds[kFdPeer].get());
  return 0;
}

// Sockets without a path belong to a network, not to files: with the host's network the desktop's
// and the daemons' would be in reach. For all that runs in here; the report says whether it works.
void scope_abstract_sockets() {
  if (landlock_version() < kLandlockScopes) return;
  const struct {
    uint64_t files = 0, ports = 0, scoped = 1;  // LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
  } rules;
  const Fd fd(static_cast<int>(::syscall(444, &rules, sizeof rules, 0)));
  if (fd) (void)::syscall(446, fd.get(), 0);
}

int run_init(int argc, char** argv) {
  // Inside, nobody shall read our memory or reach our descriptors.
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  scope_abstract_sockets();
  if (argc < 7) return trouble("arguments are missing");
  auto number = [&](int i) { return std::atoi(argv[i]); };
  Task task;
  std::string bytes;
  if (!read_all(number(2), bytes) || !decode(bytes, task) || task.argv.empty()) {
    return trouble("the task cannot be read");
  }
  InitFds fds;
  fds.control = number(3);
  fds.in = number(4);
  fds.out = number(5);
  fds.err = number(6);
  for (int i = 7; i < argc; ++i) fds.groups.push_back(number(i));
  // Whatever else bubblewrap handed on is not ours; what is ours must not pass the exec.
  return Init(std::move(task), std::move(fds), &serve_files).run();
}

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "launch") return launch_job();
  if (mode == "init") return run_init(argc, argv);
  return trouble("this program is started by the plugin isolation_bwrap");
}
