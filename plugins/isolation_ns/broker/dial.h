// A connection to a port inside a sandbox.
#pragma once

#include <cstdint>

namespace ns {

// In a process of its own: enters the sandbox's network and sends Answer and the socket over `told`.
int run_dialer(int user, int net, uint32_t port, int told);

}  // namespace ns
