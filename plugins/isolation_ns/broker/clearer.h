// Removes what a sandbox with ids of /etc/subuid has left, which its user alone cannot.
#pragma once

#include "../wire.h"

namespace ns {

// In the place of run_builder(), in a namespace that has the ids of the files.
int run_clearer(const Blueprint& plan, int socket);

}  // namespace ns
