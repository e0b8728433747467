#include "clearer.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include <bulkhead/sdk/isolation/tree_remove.hpp>

namespace ns {

using isolation::Fd;

int run_clearer(const Blueprint& plan, int socket) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Answer ready;
  std::vector<Fd> none;
  // The ids are there once this comes.
  if (receive_message(socket, ready, none) != 1) return 1;
  const size_t cut = plan.clear.rfind('/');
  const Fd above = isolation::open_canonical(plan.clear.substr(0, cut == 0 ? 1 : cut));
  Answer answer;
  if (!above || !isolation::remove_tree(above.get(), plan.clear.substr(cut + 1))) {
    answer.error = errno != 0 ? errno : EIO;
    ::snprintf(answer.text, sizeof answer.text, "removing %s: %s", plan.clear.c_str(),
               ::strerror(answer.error));
  }
  if (!send_message(socket, answer)) return 1;
  (void)receive_message(socket, ready, none);
  return 0;
}

}  // namespace ns
