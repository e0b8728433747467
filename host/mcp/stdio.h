// MCP on stdio: one message a line, in and out, and nothing else on the way out. What the verb
// `bulkhead mcp` runs.
#pragma once

#include <bulkhead/host.hpp>
#include <chrono>
#include <string>

#include "mcp/host_port.h"
#include "mcp/limits.h"

namespace bh::mcp {

struct ServeOptions {
  HostPort* host = nullptr;  // borrowed
  int in_fd = 0;             // borrowed, like the others
  int out_fd = 1;
  int stop_fd = -1;  // readable: stop as at the end of input. -1: none
  Limits limits;
  std::string version;
  std::string instructions;
  size_t out_bytes = 8u << 20;  // may wait for a client that does not read; then requests wait too
  std::chrono::milliseconds grace{10000};  // for what runs to end, after the end of input
  std::chrono::milliseconds drain{2000};   // and then for the client to read the last answers
};

// Serves one client until its input ends, it reads no more, or it is to stop; then cancels what
// runs and waits for it to end. False where something did not within `grace` and is left behind.
// [blocking]
bool serve_stdio(const ServeOptions& options);

// The same over a session of `runtime`; stop_fd as in ServeOptions. `session_config`:
// {"persona":NAME} or {"operator":true}. Where it serves fds 0 and 1 these are put out of reach
// first (0 becomes empty, 1 becomes fd 2), so that no library and no child can read or write
// between the messages. A fault where it could not begin; all_ended: as serve_stdio() says. [blocking]
Fault serve_session(const bulkhead::Runtime& runtime, const std::string& session_config, int in_fd,
                    int out_fd, int stop_fd, bool& all_ended);

// That, for the program: request_stop() ends it. 0, or 125 with a sentence on stderr. [blocking]
int run_stdio(bulkhead::Runtime& runtime, const std::string& session_config, int in_fd, int out_fd);

// Makes the run_stdio() of this process return, also one that has yet to begin. Safe in a signal
// handler.
void request_stop() noexcept;

}  // namespace bh::mcp
