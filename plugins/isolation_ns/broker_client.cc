#include "broker_client.h"

#include <poll.h>
#include <string.h>

namespace ns {

using isolation::Fd;
using isolation::Launched;
using sdk::failure;
using sdk::Status;

namespace {

constexpr int kPatienceMs = 10000;

sdk::Failure lost() {
  return failure(BH_ABORTED,
                 "the process that held this sandbox has died: what it kept in memory (/dev/shm, "
                 "commands that ran) is gone, its files are not",
                 "broker_lost", {}, "run the command again; the sandbox is built anew for it");
}

// What receive_message() answered in the place of 1; our own table may be what is full.
sdk::Failure unheard(int n) { return n < 0 && errno == EMFILE ? Launched::no("a descriptor") : lost(); }

// A second opinion on pollfd: whether the process behind a pidfd has ended.
bool ended(int pidfd) {
  pollfd set{pidfd, POLLIN, 0};
  return ::poll(&set, 1, 0) == 1;
}

sdk::Failure refused(const Answer& answer) {
  const std::string text(answer.text, ::strnlen(answer.text, sizeof answer.text));
  if (answer.unmapped != 0) {
    return failure(BH_FAILED_PRECONDITION,
                   "a folder cannot be mounted with the persona's own ids: " + text, "unmapped", {},
                   "keep workspace and data on ext4, xfs, btrfs or, since Linux 6.3, tmpfs, start Bulkhead as an "
                   "ordinary user, or name the backend bwrap, which says what it cannot enforce there");
  }
  if (answer.cause == Answer::kNoOverlay) {
    return failure(BH_FAILED_PRECONDITION,
                   "a sandbox that starts from an image needs an overlay over it, which this kernel does not "
                   "have: " + text,
                   "no_overlay", "root.image",
                   "load it as root (modprobe overlay), or start from the host's own files");
  }
  if (answer.cause == Answer::kMapper) {
    return failure(BH_FAILED_PRECONDITION, "the ids of /etc/subuid cannot be mapped: " + text, "sub_ids",
                   "capabilities",
                   "mend the entries of this user in /etc/subuid and /etc/subgid, or leave capabilities out");
  }
  if (answer.error == EMFILE || answer.error == ENFILE || answer.error == ENOMEM ||
      answer.error == ENOSPC || answer.error == EAGAIN) {
    return failure(BH_RESOURCE_EXHAUSTED, "the sandbox cannot be built: " + text, "namespaces", {},
                   "end other sandboxes, or raise the limit of open files (ulimit -n), "
                   "user.max_user_namespaces and its like");
  }
  return failure(BH_FAILED_PRECONDITION, "the sandbox cannot be built: " + text, "namespaces", {},
                 "allow unprivileged user namespaces (kernel.unprivileged_userns_clone, "
                 "kernel.apparmor_restrict_unprivileged_userns, user.max_user_namespaces); in a "
                 "container, its own settings must allow them and show all of /proc");
}

}  // namespace

// With the lock held.
Status BrokerClient::start() {
  if (process_ && !ended(process_->pidfd.get())) return {};
  process_.reset();
  auto started = Launched::start_helper(helper_, "broker");
  if (!started) return std::move(started).failure();
  // One that is stopped would hold up all threads for good.
  const timeval patience{2, 0};
  (void)::setsockopt(started->job.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const Fd host(isolation::pidfd_open(::getpid()));
  if (!host || !send_message(started->job.get(), Request(), {host.get()})) {
    return Launched::no("the broker's first word");
  }
  process_ = std::make_unique<Launched>(std::move(*started));
  ++life_;
  return {};
}

Status BrokerClient::send(const Request& request, const std::vector<int>& fds) {
  if (send_message(process_->job.get(), request, fds)) return {};
  if (errno == EPIPE || errno == ECONNRESET) return lost();
  if (errno == EAGAIN) {
    return failure(BH_UNAVAILABLE, "the process that holds the sandboxes does not answer", "busy", {},
                   "try again");
  }
  return Launched::no("a request to the broker");
}

sdk::Result<BrokerClient::Number> BrokerClient::make(sdk::Call& call, const Plan& plan) {
  const Fd blueprint = isolation::memory_file("blueprint", plan.blueprint);
  const Fd entry = isolation::memory_file("entry", plan.entry);
  Fd ours, theirs;
  if (!blueprint || !entry || !Launched::socket_pair(ours, theirs)) {
    return Launched::no("a descriptor");
  }
  Number number;
  {
    std::lock_guard lock(m_);
    if (auto st = start(); !st) return std::move(st).failure();
    number = {++last_, life_};
    Request request;
    request.kind = Request::kMake;
    request.own_network = plan.own_network ? 1 : 0;
    request.shared_processes = plan.shared_processes ? 1 : 0;
    request.sandbox = number.sandbox;
    auto st = send(request, {blueprint.get(), entry.get(), plan.filter, theirs.get()});
    if (!st) return std::move(st).failure();
  }
  theirs.reset();
  Answer answer;
  std::vector<Fd> none;
  auto heard = wait(call, ours.get(), answer, none);
  number.memory_root = answer.memory_root != 0;
  if (heard && answer.error == 0) return number;
  drop(number);
  if (!heard) return std::move(heard).failure();
  return refused(answer);
}

Status BrokerClient::wait(sdk::Call& call, int socket, Answer& answer, std::vector<Fd>& fds) {
  for (;;) {
    pollfd sets[2] = {{socket, POLLIN, 0}, {static_cast<int>(call.cancel_fd()), POLLIN, 0}};
    const int n = ::poll(sets, 2, kPatienceMs);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) {
      return failure(BH_UNAVAILABLE, "building the sandbox takes longer than ten seconds", "busy", {},
                     "a folder of it may lie on a file system that does not answer; try again");
    }
    if (sets[1].revents != 0) {
      if (auto st = call.stopped(); !st.ok()) return st;
    }
    if (sets[0].revents == 0) continue;
    if (const int n = receive_message(socket, answer, fds); n != 1) return unheard(n);
    return {};
  }
}

sdk::Result<Fd> BrokerClient::dial(sdk::Call& call, const Number& number, uint32_t port) {
  Fd ours, theirs;
  if (!Launched::socket_pair(ours, theirs)) return Launched::no("a socket");
  Request request;
  request.kind = Request::kDial;
  request.sandbox = number.sandbox;
  request.port = port;
  {
    std::lock_guard lock(m_);
    if (number.life != life_ || !process_) return lost();
    if (auto st = send(request, {theirs.get()}); !st) return std::move(st).failure();
  }
  theirs.reset();
  Answer answer;
  std::vector<Fd> fds;
  if (auto st = wait(call, ours.get(), answer, fds); !st) return std::move(st).failure();
  if (answer.error == 0 && fds.size() == 1) return std::move(fds[0]);
  return failure(BH_UNAVAILABLE, "nobody listens inside: " + std::string(answer.text),
                 "nobody_listens", "port", "start a server in the sandbox first");
}

bool BrokerClient::alive(const Number& number) {
  std::lock_guard lock(m_);
  return number.life == life_ && process_ && !ended(process_->pidfd.get());
}

int BrokerClient::pid() {
  std::lock_guard lock(m_);
  return process_ && !ended(process_->pidfd.get()) ? process_->pid : -1;
}

sdk::Result<Launched> BrokerClient::enter(const Number& number) {
  Launched inside;
  Fd control, job, trouble;
  if (!Launched::socket_pair(inside.control, control) || !Launched::socket_pair(inside.job, job) ||
      !Launched::pipe_pair(inside.trouble, trouble)) {
    return Launched::no("a socket");
  }
  (void)::fcntl(inside.trouble.get(), F_SETFL, O_NONBLOCK);
  inside.looked_after = true;
  Request request;
  request.kind = Request::kEnter;
  request.sandbox = number.sandbox;
  std::lock_guard lock(m_);
  if (number.life != life_ || !process_) return lost();
  auto st = send(request, {control.get(), job.get(), trouble.get(), inside.control.get()});
  if (!st) return std::move(st).failure();
  return inside;
}

void BrokerClient::drop(const Number& number) {
  Fd ours, theirs;
  // Without a socket to be told on it is dropped all the same.
  const bool told = Launched::socket_pair(ours, theirs);
  {
    std::lock_guard lock(m_);
    if (number.life != life_ || !process_) return;
    Request request;
    request.kind = Request::kDrop;
    request.sandbox = number.sandbox;
    if (!send(request, told ? std::vector<int>{theirs.get()} : std::vector<int>())) return;
  }
  if (!told) return;
  theirs.reset();
  pollfd set{ours.get(), POLLIN, 0};
  while (::poll(&set, 1, kPatienceMs) < 0 && errno == EINTR) {
  }
}

Status give_task(Launched& inside, const isolation::Task& task, bool input,
                 const std::vector<Fd>& doors, uint32_t owner, uint32_t group) {
  auto theirs = inside.make_streams(input);
  if (!theirs) return std::move(theirs).failure();
  // A pipe belongs to whoever made it; /dev/stdout and its like open it anew, as the sandbox's user.
  if (owner != isolation::kNobody) {
    for (const Fd* fd : {&theirs->in, &theirs->out, &theirs->err}) {
      struct stat st {};
      if (::fstat(fd->get(), &st) == 0 && S_ISFIFO(st.st_mode)) {
        (void)::fchown(fd->get(), owner, group);
      }
    }
  }
  const Fd file = isolation::memory_file("task", encode(task));
  if (!file) return Launched::no("a memory file");
  std::vector<int> fds = {file.get(), theirs->in.get(), theirs->out.get(), theirs->err.get()};
  for (const Fd& door : doors) fds.push_back(door.get());
  if (!isolation::send_fds(inside.control.get(), fds)) {
    if (errno != EPIPE && errno != ECONNRESET) return Launched::no("a message");
    // Either it gave up waiting, or it never came to be: what it said on the way tells.
    pollfd set{inside.trouble.get(), POLLIN, 0};
    char text[512];
    const bool said = ::poll(&set, 1, 0) == 1 && (set.revents & POLLIN) != 0;
    const ssize_t n = said ? ::read(inside.trouble.get(), text, sizeof text) : 0;
    if (n > 0) {
      return failure(BH_FAILED_PRECONDITION,
                     "no process can enter the sandbox: " +
                         sdk::to_utf8(std::string_view(text, static_cast<size_t>(n) - 1)),
                     "namespaces");
    }
    return failure(BH_UNAVAILABLE, "the process inside waited too long", "busy", {},
                   "try again");
  }
  pollfd set{inside.job.get(), POLLIN, 0};
  while (::poll(&set, 1, kPatienceMs) < 0 && errno == EINTR) {
  }
  Answer answer;
  std::vector<Fd> fd;
  const int n = receive_message(inside.job.get(), answer, fd, MSG_DONTWAIT);
  if (n != 1) return unheard(n);
  if (answer.error != 0 || fd.size() != 1) return refused(answer);
  inside.pid = answer.pid;
  inside.pidfd = std::move(fd[0]);
  return {};
}

}  // namespace ns
