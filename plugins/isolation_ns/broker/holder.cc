#include "holder.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <bulkhead/sdk/isolation/launch_init.hpp>

#include "dial.h"
#include "enter.h"
#include "maker.h"

namespace ns {

using isolation::Fd;

namespace {

// A network namespace takes six times the memory of all others together, so an idle sandbox has none.
constexpr uint64_t kIdleNs = 10ull * 1000 * 1000 * 1000;

// A joiner ends in a second whatever a sandbox does; one that does not was stopped from the outside.
constexpr uint64_t kEndNs = 3ull * 1000 * 1000 * 1000;

bool socket_pair(Fd& one, Fd& other) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return false;
  one.reset(pair[0]);
  other.reset(pair[1]);
  return true;
}

Answer refusal(int error, const std::string& what) {
  Answer a;
  a.error = error != 0 ? error : EIO;
  ::snprintf(a.text, sizeof a.text, "%s: %s", what.c_str(), ::strerror(a.error));
  return a;
}

}  // namespace

void Holder::take(const Request& request, std::vector<Fd> fds) {
  switch (request.kind) {
    case Request::kMake:
      return make(request.sandbox, request, std::move(fds));
    case Request::kEnter: {
      const auto it = all_.find(request.sandbox);
      if (fds.size() < 4) return;
      if (it == all_.end()) {
        (void)send_message(fds[1].get(), refusal(ENOENT, "no such sandbox"));
        return;
      }
      return enter(it->first, it->second, std::move(fds));
    }
    case Request::kDrop:
      return drop(request.sandbox, std::move(fds));
    case Request::kDial: {
      const auto it = all_.find(request.sandbox);
      if (fds.empty()) return;
      if (it != all_.end()) return dial(it->second, request.port, fds[0]);
      (void)send_message(fds[0].get(), refusal(ENOENT, "no such sandbox"));
      return;
    }
    default:
      return;
  }
}

void Holder::take_in_need(const Request& request, std::vector<Fd> fds) {
  const size_t answer = request.kind == Request::kMake ? 3 : request.kind == Request::kEnter ? 1 : 0;
  if (request.kind == Request::kDrop) return drop(request.sandbox, std::move(fds));
  if (fds.size() > answer) {
    (void)send_message(fds[answer].get(), refusal(EMFILE, "the process that holds all sandboxes"));
  }
}

void Holder::make(uint64_t sandbox, const Request& request, std::vector<Fd> fds) {
  if (fds.size() < 4 || all_.count(sandbox) != 0) return;
  Held& held = all_[sandbox];
  held.own_network = request.own_network != 0;
  held.shared_processes = request.shared_processes != 0;
  held.entry = std::move(fds[1]);
  held.filter = std::move(fds[2]);
  held.answer = std::move(fds[3]);
  Fd theirs;
  pid_t pid = -1;
  if (socket_pair(held.told, theirs)) {
    pid = spawner_.run({fds[0].get(), theirs.get()},
                       [] { return run_maker(Spawner::at(0), Spawner::at(1)); });
  }
  if (pid < 0) {
    held.refused = refusal(errno, "starting the maker");
    held.told.reset();
    (void)send_message(held.answer.get(), held.refused);
    held.answer.reset();
    return;
  }
  held.maker = pid;
  owners_[pid] = sandbox;
}

void Holder::built(uint64_t sandbox, Held& held) {
  Answer answer;
  std::vector<Fd> spaces;
  const int n = receive_message(held.told.get(), answer, spaces, MSG_DONTWAIT);
  if (n < 0 && errno == EAGAIN) return;
  if (n <= 0) {
    answer = refusal(EIO, "the maker ended early");
  } else if (answer.error == 0 && spaces.size() != 6) {
    answer = refusal(EPROTO, "the maker's answer");
  }
  held.told.reset();
  if (answer.error == 0) {
    held.spaces = std::move(spaces);
  } else {
    held.refused = answer;
  }
  if (held.answer) (void)send_message(held.answer.get(), answer);
  held.answer.reset();
  flush(sandbox, held);
}

bool Holder::seat(uint64_t sandbox, Held& held, const std::vector<Fd>& fds, bool keep,
                  pid_t& pid) {
  Seat seat;
  std::vector<int> numbers;
  auto place = [&](int& in, const Fd& fd) {
    if (!fd) return;
    in = Spawner::at(numbers.size());
    numbers.push_back(fd.get());
  };
  int* spaces[] = {&seat.user, &seat.mnt, &seat.ipc, &seat.uts, &seat.cgroup, &seat.time};
  for (size_t i = 0; i < 6; ++i) {
    place(*spaces[i], i == 1 && held.keeper_mnt ? held.keeper_mnt : held.spaces[i]);
  }
  Fd back;
  seat.keep = keep;
  seat.make_network = held.own_network && !held.net;
  if ((keep || seat.make_network) && !socket_pair(held.back, back)) return false;
  if (held.own_network) place(seat.net, held.net);
  place(seat.back, back);
  place(seat.pid, held.keeper_pid);
  place(seat.filter, held.filter);
  place(seat.entry, held.entry);
  int* from_host[] = {&seat.control, &seat.job, &seat.trouble, &seat.peer};
  for (size_t i = 0; i < fds.size() && i < 4; ++i) place(*from_host[i], fds[i]);
  seat.host = Spawner::at(numbers.size());
  numbers.push_back(host_);
  seat.broker = ::getpid();
  pid = spawner_.run(numbers, [&seat] { return run_joiner(seat); });
  if (pid < 0) {
    const int error = errno;
    held.back.reset();
    return errno = error, false;
  }
  held.keeper_wanted = keep;
  if (keep) held.keeper_joiner = pid;
  owners_[pid] = sandbox;
  held.inside.insert(pid);
  held.idle_since = 0;
  return true;
}

void Holder::enter(uint64_t sandbox, Held& held, std::vector<Fd> fds) {
  if (held.ending || held.refused.error != 0) {
    const Answer why = held.refused.error != 0 ? held.refused : refusal(ENOENT, "it is ending");
    (void)send_message(fds[1].get(), why);
    return;
  }
  // Not built yet, or what all share is just being made.
  if (held.spaces.empty() || held.back) {
    held.waiting.push_back(std::move(fds));
    return;
  }
  pid_t pid = -1;
  if (held.shared_processes && !held.keeper_pid) {
    // Nobody at the host's side speaks with it: it ends with us or with the sandbox.
    if (seat(sandbox, held, {}, true, pid)) {
      held.waiting.push_back(std::move(fds));
    } else {
      (void)send_message(fds[1].get(), refusal(errno, "starting the sandbox's first process"));
    }
    return;
  }
  if (!seat(sandbox, held, fds, false, pid)) {
    (void)send_message(fds[1].get(), refusal(errno, "starting a process inside"));
    return;
  }
  const Fd pidfd(isolation::pidfd_open(pid));
  Answer answer;
  answer.pid = pid;
  if (pidfd) {
    (void)send_message(fds[1].get(), answer, {pidfd.get()});
  } else {
    const Answer why = refusal(errno, "watching a process inside");
    ::kill(pid, SIGKILL);
    (void)send_message(fds[1].get(), why);
  }
}

void Holder::dial(Held& held, uint32_t port, const Fd& answer) {
  // Without a network nothing has run in it lately, so nobody listens.
  if (held.spaces.empty() || !held.net) {
    (void)send_message(answer.get(), refusal(ECONNREFUSED, "port " + std::to_string(port)));
    return;
  }
  const pid_t pid = spawner_.run(
      {held.spaces[0].get(), held.net.get(), answer.get()},
      [port] { return run_dialer(Spawner::at(0), Spawner::at(1), port, Spawner::at(2)); });
  if (pid < 0) (void)send_message(answer.get(), refusal(errno, "starting a process inside"));
}

void Holder::refuse_waiting(Held& held) {
  std::vector<std::vector<Fd>> waiting;
  waiting.swap(held.waiting);
  for (auto& fds : waiting) {
    (void)send_message(fds[1].get(), refusal(EIO, "the sandbox's first process did not come to be"));
  }
}

void Holder::flush(uint64_t sandbox, Held& held) {
  std::vector<std::vector<Fd>> waiting;
  waiting.swap(held.waiting);
  for (auto& fds : waiting) enter(sandbox, held, std::move(fds));
}

void Holder::drop(uint64_t sandbox, std::vector<Fd> fds) {
  const auto it = all_.find(sandbox);
  if (it == all_.end()) {
    if (!fds.empty()) (void)send_message(fds[0].get(), Answer());
    return;
  }
  Held& held = it->second;
  held.ending = true;
  if (!fds.empty()) held.dropped = std::move(fds[0]);
  held.spaces.clear();
  held.net.reset();
  if (held.refused.error == 0) held.refused = refusal(ENOENT, "the sandbox is ending");
  flush(sandbox, held);
  if (held.maker > 0) ::kill(held.maker, SIGKILL);
  for (const pid_t pid : held.inside) ::kill(pid, SIGTERM);
  held.kill_at = isolation::monotonic_ns() + kEndNs;
  finish_drop(sandbox);
}

void Holder::finish_drop(uint64_t sandbox) {
  const auto it = all_.find(sandbox);
  if (it == all_.end() || !it->second.ending) return;
  if (it->second.maker > 0 || !it->second.inside.empty()) return;
  if (it->second.dropped) (void)send_message(it->second.dropped.get(), Answer());
  all_.erase(it);
}

void Holder::ended(pid_t pid) {
  const auto owner = owners_.find(pid);
  if (owner == owners_.end()) return;
  const uint64_t sandbox = owner->second;
  owners_.erase(owner);
  const auto it = all_.find(sandbox);
  if (it == all_.end()) return;
  Held& held = it->second;
  if (held.maker == pid) held.maker = -1;
  // A keeper that is gone took all processes along; the next command has another.
  if (pid == held.keeper_joiner) {
    held.keeper_pid.reset();
    held.keeper_mnt.reset();
  }
  if (held.inside.erase(pid) != 0 && held.inside.empty()) {
    held.idle_since = isolation::monotonic_ns();
  }
  finish_drop(sandbox);
}

std::vector<int> Holder::watched() const {
  std::vector<int> out;
  for (const auto& [sandbox, held] : all_) {
    if (held.told) out.push_back(held.told.get());
    if (held.back) out.push_back(held.back.get());
  }
  return out;
}

void Holder::heard(int fd) {
  for (auto& [sandbox, held] : all_) {
    if (held.told.get() == fd) return built(sandbox, held);
    if (held.back.get() != fd) continue;
    Answer answer;
    std::vector<Fd> made;
    const int n = receive_message(fd, answer, made, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) return;
    // Nothing: who was to make it could not, and has said why; the next one tries again.
    const bool keeper = held.keeper_wanted;
    if (n == 1 && made.size() == 1) {
      held.net = std::move(made[0]);
      if (keeper) return;  // that comes next
    } else if (n == 1 && made.size() == 2) {
      held.keeper_pid = std::move(made[0]);
      held.keeper_mnt = std::move(made[1]);
    }
    held.back.reset();
    if (keeper && !held.keeper_pid) return refuse_waiting(held);
    return flush(sandbox, held);
  }
}

int Holder::timeout() const {
  uint64_t next = UINT64_MAX;
  for (const auto& [sandbox, held] : all_) {
    if (held.net && held.inside.empty() && held.idle_since != 0) {
      next = std::min(next, held.idle_since + kIdleNs);
    }
    if (held.kill_at != 0) next = std::min(next, held.kill_at);
  }
  if (next == UINT64_MAX) return -1;
  const uint64_t now = isolation::monotonic_ns();
  return next <= now ? 0 : static_cast<int>((next - now) / 1000000 + 1);
}

void Holder::look_at_clock() {
  const uint64_t now = isolation::monotonic_ns();
  for (auto& [sandbox, held] : all_) {
    if (held.net && held.inside.empty() && held.idle_since != 0 &&
        held.idle_since + kIdleNs <= now) {
      held.net.reset();
    }
    if (held.kill_at == 0 || held.kill_at > now) continue;
    held.kill_at = 0;
    // What they watch over is told by the kernel that its parent has died, and dies too.
    for (const pid_t pid : held.inside) ::kill(pid, SIGKILL);
  }
}

}  // namespace ns
