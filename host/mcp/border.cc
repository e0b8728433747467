// The C border of the library bulkhead_mcp (bulkhead/mcp.h).
#include <fcntl.h>

#include <limits>
#include <string>

#include <bulkhead/mcp.h>

#include "mcp/stdio.h"

namespace {

// Lent for one call: its owner is on the other side of the border.
class Lent {
 public:
  explicit Lent(bh_runtime* raw) : runtime_(raw) {}
  ~Lent() { runtime_.release(); }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  const bulkhead::Runtime& operator*() const { return runtime_; }

 private:
  bulkhead::Runtime runtime_;
};

bool is_open(bh_fd fd) {
  return fd >= 0 && fd <= std::numeric_limits<int>::max() &&
         fcntl(static_cast<int>(fd), F_GETFD) != -1;
}

}  // namespace

extern "C" BH_API bh_status bh_mcp_serve(bh_runtime* rt, const char* session, size_t session_len,
                                         bh_fd in, bh_fd out, bh_fd stop, bh_fault** f) noexcept {
  if (f != nullptr) *f = nullptr;
  if (rt == nullptr || !is_open(in) || !is_open(out) || (stop != -1 && !is_open(stop))) {
    return BH_INVALID_ARGUMENT;
  }
  // Opened once to see whether it can be: this one's fault is the library's own, and can be handed
  // on.
  bh_session* tried = nullptr;
  if (bh_status st = bh_session_new(rt, session, session_len, &tried, f); st != BH_OK) return st;
  bh_session_free(tried);
  try {
    Lent runtime(rt);
    bool all_ended = false;
    const bulkhead::Fault fault =
        bh::mcp::serve_session(*runtime, std::string(session, session_len), static_cast<int>(in),
                               static_cast<int>(out), static_cast<int>(stop), all_ended);
    if (fault) return fault.code();
    return all_ended ? BH_OK : BH_DEADLINE_EXCEEDED;
  } catch (...) {  // out of memory, and what nobody thought of: nothing unwinds into the caller
    return BH_INTERNAL;
  }
}
