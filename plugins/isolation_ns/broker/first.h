// The first process of a command's pid namespace.
#pragma once

#include "enter.h"

namespace ns {

// Lays the command's own /proc, gives up all rights, waits for a task on `seat.control` and runs it.
// Returns when the command and all that it left has ended, or when nobody came.
int run_first(const Seat& seat);

// The first process of a sandbox whose commands share theirs: waits on `ready` until it has been looked
// at, says there that it can be entered, and takes care of what commands leave until it is killed.
int run_keeper(const Seat& seat, int ready);

}  // namespace ns
