// Which ids a new user namespace has.
#pragma once

#include <sys/types.h>

#include <string>

#include "../wire.h"

namespace ns {

// Of the process `builder`, as the blueprint says: written by ourselves, or by the programs that it
// names. Empty: done; else what could not be done, and why.
std::string write_id_maps(const Blueprint& plan, pid_t builder);

}  // namespace ns
