// How much of everything the engine keeps at most.
#pragma once

#include <chrono>
#include <cstddef>

namespace bh::mcp {

struct Limits {
  size_t message_bytes = 64u << 20;          // one message of the client
  size_t calls = 256;                        // in progress at once, as many as the host has workers
  size_t argument_bytes = 256u << 20;        // of all calls in progress together
  size_t attachment_bytes = 64u << 20;       // of one call's answer
  size_t all_attachment_bytes = 256u << 20;  // of all calls in progress together
  size_t batch_elements = 100;               // in one batch (2025-03-26)
  size_t batch_bytes = 64u << 20;            // of a batch's answers, which go out as one
  size_t deferred_bytes = 4u << 20;  // of requests that wait for a client that does not read
  size_t page_tools = 100;           // in one answer to tools/list
  size_t logs_a_second = 100;        // further ones are counted and left out
  std::chrono::milliseconds progress_interval{100};  // between two of one call
};

}  // namespace bh::mcp
