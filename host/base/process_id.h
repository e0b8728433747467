// Which process this is, without asking the kernel each time: every function of host.h looks whether
// its handle was made here or before a fork().
#pragma once

#include <sys/types.h>

namespace bh {

// getpid(). [any]
pid_t process_id();

}  // namespace bh
