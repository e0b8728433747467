// bulkhead/sdk/isolation_jobs.hpp - commands that go on without a call, where the backend keeps them
// itself (isolation_jobs.h): `Jobs` is a part of a Sandbox, as those of isolation_extensions.hpp.
#ifndef BULKHEAD_SDK_ISOLATION_JOBS_HPP
#define BULKHEAD_SDK_ISOLATION_JOBS_HPP

#include <bulkhead/isolation_jobs.h>

#include "isolation_extensions.hpp"

namespace bulkhead::sdk {

class Jobs {
 public:
  // Back once it runs; what.id() names it from then on.
  virtual Status start(Call& call, const Exec& what) = 0;
  // Output from byte `cursor` on; `flags` is made of BH_JOB_*. `out` is told where it has ended.
  virtual Status attach(Call& call, std::string_view id, int64_t cursor, uint32_t flags,
                        Exit& out) = 0;
  virtual Status jobs(Call& call) = 0;
  virtual Status forget(Call& call, std::string_view id) = 0;

 protected:
  ~Jobs() = default;
};

namespace detail {

template <>
struct Extension<Jobs> {
  static constexpr std::string_view kId = BH_ISOLATION_JOBS;
  static bh_status start(void* b, bh_call* call, const bh_exec* what) noexcept {
    return with<Jobs>(b, call, [&](Jobs& j, Call& c) -> Status {
      if ((what->flags & ~BH_EXEC_INPUT) != 0) {
        return failure(BH_UNIMPLEMENTED, "this backend does not know all flags of the command",
                       "unknown_flag", "flags");
      }
      return j.start(c, Exec(what));
    });
  }
  static bh_status attach(void* b, bh_call* call, const char* id, size_t size, int64_t cursor,
                          uint32_t flags, bh_exit* out) noexcept {
    Exit exit;
    const bh_status st = with<Jobs>(b, call, [&](Jobs& j, Call& c) {
      return j.attach(c, view(id, size), cursor, flags, exit);
    });
    give(exit, out);
    return st;
  }
  static bh_status list(void* b, bh_call* call) noexcept {
    return with<Jobs>(b, call, [&](Jobs& j, Call& c) { return j.jobs(c); });
  }
  static bh_status forget(void* b, bh_call* call, const char* id, size_t size) noexcept {
    return with<Jobs>(b, call, [&](Jobs& j, Call& c) { return j.forget(c, view(id, size)); });
  }
  static constexpr bh_isolation_jobs kTable = {sizeof(bh_isolation_jobs), BH_ABI_MINOR, &start,
                                               &attach, &list, &forget};
};

}  // namespace detail
}  // namespace bulkhead::sdk

#endif  // BULKHEAD_SDK_ISOLATION_JOBS_HPP
