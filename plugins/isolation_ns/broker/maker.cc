#include "maker.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <bulkhead/sdk/isolation/mount_api.hpp>

#include "builder.h"
#include "clearer.h"
#include "id_maps.h"
#include "kernel.h"

namespace ns {

using isolation::Fd;
using isolation::Source;

namespace {

// After each change of ids. The broker is not dumpable; what we start must let us write its id
// maps.
void settle() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

// Fills an Answer's text.
void say(Answer& answer, const std::string& text, int error) {
  answer.error = error != 0 ? error : EIO;
  ::snprintf(answer.text, sizeof answer.text, "%s", text.c_str());
}

class Maker {
 public:
  Maker(const Blueprint& plan, int told) : plan_(plan), told_(told) {}

  int run() {
    Trees trees;
    if (plan_.privileged != 0 && !open_trees(plan_, trees, &users_, answer_)) return give_up();
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
      return no("a socket");
    }
    Fd ours(pair[0]), theirs(pair[1]);
    const pid_t builder = clone_owned();
    if (builder < 0) return no("new namespaces");
    if (builder == 0) {
      ours.reset();
      ::_exit(plan_.clear.empty() ? run_builder(plan_, std::move(trees), theirs.get())
                                  : run_clearer(plan_, theirs.get()));
    }
    theirs.reset();
    const int code = watch(builder, ours.get());
    ::kill(builder, SIGKILL);
    ::waitpid(builder, nullptr, 0);
    return code;
  }

 private:
  // What processes of a user namespace use up of the kernel's counts per user is counted for
  // whoever made it as well: that is to be the persona's id, not root, on whom the host depends.
  pid_t clone_owned() const {
    constexpr uint64_t kSpaces =
        CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
    if (plan_.privileged == 0) return clone_process(kSpaces);
    if (::setresgid(-1u, plan_.kernel_gid, -1u) != 0) return -1;
    if (::setresuid(-1u, plan_.kernel_uid, -1u) != 0) return -1;
    settle();
    const pid_t builder = clone_process(kSpaces);
    if (builder == 0) return 0;
    const int error = errno;
    if (::setresuid(-1u, 0, -1u) != 0 || ::setresgid(-1u, 0, -1u) != 0) ::_exit(1);
    settle();
    errno = error;
    return builder;
  }

  int give_up() {
    (void)send_message(told_, answer_);
    return 1;
  }
  int no(const std::string& what) {
    const int error = errno;
    say(answer_, what + ": " + ::strerror(error), error);
    return give_up();
  }

  int watch(pid_t builder, int socket) {
    if (const std::string trouble = write_id_maps(plan_, builder); !trouble.empty()) {
      answer_.cause = plan_.map_users.empty() ? Answer::kOther : Answer::kMapper;
      say(answer_, trouble, errno);
      return give_up();
    }
    Answer heard;
    std::vector<Fd> none;
    if (!send_message(socket, heard)) return no("starting the builder");
    if (receive_message(socket, heard, none) != 1) {
      say(answer_, "the builder ended early", EIO);
      return give_up();
    }
    if (heard.error != 0) {
      answer_ = heard;
      return give_up();
    }
    answer_.memory_root = heard.memory_root;
    std::vector<Fd> spaces;
    std::vector<int> numbers;
    for (const char* name : {"user", "mnt", "ipc", "uts", "cgroup", "time_for_children"}) {
      const std::string path = "/proc/" + std::to_string(builder) + "/ns/" + name;
      spaces.emplace_back(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
      if (!spaces.back()) return no("opening " + path);
      numbers.push_back(spaces.back().get());
    }
    return send_message(told_, answer_, numbers) ? 0 : 1;
  }

  const Blueprint& plan_;
  const int told_;
  Answer answer_;
  isolation::MountUsers users_;
};

}  // namespace

int run_maker(int blueprint, int told) {
  settle();
  std::string bytes;
  Blueprint plan;
  if (!isolation::read_all(blueprint, bytes) || !decode(bytes, plan)) {
    Answer answer;
    say(answer, "the blueprint cannot be read", EBADMSG);
    (void)send_message(told, answer);
    return 1;
  }
  return Maker(plan, told).run();
}

}  // namespace ns
