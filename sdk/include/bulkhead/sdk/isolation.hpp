// bulkhead/sdk/isolation.hpp - base classes for isolation backends. What each function owes is said
// in bulkhead/isolation.h; what backends share (profiles, cgroups, seccomp, supervision) lies in
// bulkhead/sdk/isolation/.
#ifndef BULKHEAD_SDK_ISOLATION_HPP
#define BULKHEAD_SDK_ISOLATION_HPP

#include <bulkhead/isolation.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "provider.hpp"

namespace bulkhead::sdk {

// One command to run: a view, valid during the call.
class Exec {
 public:
  explicit Exec(const bh_exec* raw) : raw_(raw) {}
  std::string_view id() const { return view(raw_->id); }
  size_t argc() const { return raw_->argc; }
  std::string_view arg(size_t i) const { return view(raw_->argv[i]); }
  std::vector<std::string> argv() const {
    std::vector<std::string> out;
    out.reserve(raw_->argc);
    for (size_t i = 0; i < raw_->argc; ++i) out.emplace_back(arg(i));
    return out;
  }
  std::string_view options() const { return view(raw_->options); }  // JSON
  // stdin comes through Call::receive(); without it stdin is empty.
  bool has_input() const { return (raw_->flags & BH_EXEC_INPUT) != 0; }
  const bh_exec* raw() const { return raw_; }

 private:
  const bh_exec* raw_;
};

// How a command ended. Fill what is known, also before returning a failure.
struct Exit {
  int32_t reason = BH_EXIT_UNKNOWN;
  int32_t code = -1;
  int32_t signal = 0;  // Linux's number
  bool output_open = false;
  bool leftovers = false;
  std::chrono::nanoseconds wall{0};
  std::chrono::nanoseconds cpu{-1};  // -1: unknown
  int64_t peak_bytes = -1;           // -1: unknown

  void exited(int32_t exit_code) { reason = BH_EXIT_CODE, code = exit_code, signal = 0; }
  void killed(int32_t number) { reason = BH_EXIT_SIGNAL, code = -1, signal = number; }
};

// A handle on one sandbox. Its destructor is release(): the sandbox itself goes on. Functions are
// called from any thread, beside each other.
class Sandbox {
 public:
  virtual ~Sandbox() = default;
  // Runs one command to its end. A non-zero exit is a success; a failure means that it did not run.
  virtual Status exec(Call& call, const Exec& what, Exit& out) = 0;
  virtual Status inspect(Call& call) { return missing(call, "inspect"); }
  virtual Status signal(Call& call, std::string_view exec_id, int32_t number) {
    (void)exec_id, (void)number;
    return missing(call, "signal");
  }

 protected:
  static Status missing(Call&, std::string_view what) {
    return failure(BH_UNIMPLEMENTED, "this backend has no " + std::string(what), "not_offered");
  }
};

// The opened backend. Functions are called from any thread, beside each other.
class Isolation {
 public:
  virtual ~Isolation() = default;
  // result() is the enforcement report; makes nothing.
  virtual Status plan(Call& call, std::string_view profile) {
    (void)profile;
    return missing(call, "plan");
  }
  // result() is the enforcement report. After a failure the host calls destroy(id).
  virtual Result<std::unique_ptr<Sandbox>> create(Call& call, std::string_view id,
                                                  std::string_view profile) = 0;
  // BH_NOT_FOUND: it is gone and nothing of it is left.
  virtual Result<std::unique_ptr<Sandbox>> find(Call& call, std::string_view id) {
    (void)id;
    return std::move(missing(call, "find")).failure();
  }
  virtual Status list(Call& call) { return missing(call, "list"); }
  // Ends all inside; absent is a success. May come beside any call.
  virtual Status destroy(Call& call, std::string_view id) = 0;

 protected:
  static Status missing(Call&, std::string_view what) {
    return failure(BH_UNIMPLEMENTED, "this backend has no " + std::string(what), "not_offered");
  }
};

namespace detail {

// Field by field, and only what the host's struct is long enough to hold.
inline void give(const Exit& from, bh_exit* to) noexcept {
  if (to == nullptr) return;
  if (BH_HAS(to, bh_exit, reason)) to->reason = from.reason;
  if (BH_HAS(to, bh_exit, exit_code)) to->exit_code = from.code;
  if (BH_HAS(to, bh_exit, signal)) to->signal = from.signal;
  if (BH_HAS(to, bh_exit, flags)) {
    to->flags = (from.output_open ? BH_EXITED_OUTPUT_OPEN : 0u) |
                (from.leftovers ? BH_EXITED_LEFTOVERS : 0u);
  }
  if (BH_HAS(to, bh_exit, wall_ns)) to->wall_ns = from.wall.count();
  if (BH_HAS(to, bh_exit, cpu_ns)) to->cpu_ns = from.cpu.count();
  if (BH_HAS(to, bh_exit, peak_bytes)) to->peak_bytes = from.peak_bytes;
}

template <class T>
struct IsolationTable {
  static Isolation& self(void* p) { return *static_cast<Isolation*>(p); }
  static Sandbox& box(void* p) { return *static_cast<Sandbox*>(p); }

  static bh_status plan(void* s, bh_call* call, const char* profile, size_t size) noexcept {
    return guard(call, [&](Call& c) { return self(s).plan(c, view(profile, size)); });
  }
  static bh_status create(void* s, bh_call* call, const char* id, size_t id_size,
                          const char* profile, size_t size, void** out) noexcept {
    return guard_object<Sandbox>(call, out, [&](Call& c) {
      return self(s).create(c, view(id, id_size), view(profile, size));
    });
  }
  static bh_status find(void* s, bh_call* call, const char* id, size_t size, void** out) noexcept {
    return guard_object<Sandbox>(call, out,
                                 [&](Call& c) { return self(s).find(c, view(id, size)); });
  }
  static bh_status list(void* s, bh_call* call) noexcept {
    return guard(call, [&](Call& c) { return self(s).list(c); });
  }
  static bh_status destroy(void* s, bh_call* call, const char* id, size_t size) noexcept {
    return guard(call, [&](Call& c) { return self(s).destroy(c, view(id, size)); });
  }
  static void release(void* b) noexcept { delete static_cast<Sandbox*>(b); }
  static bh_status inspect(void* b, bh_call* call) noexcept {
    return guard(call, [&](Call& c) { return box(b).inspect(c); });
  }
  static bh_status exec(void* b, bh_call* call, const bh_exec* what, bh_exit* out) noexcept {
    Exit exit;
    const bh_status st = guard(call, [&](Call& c) -> Status {
      if ((what->flags & ~BH_EXEC_INPUT) != 0) {
        return failure(BH_UNIMPLEMENTED, "this backend does not know all flags of the command",
                       "unknown_flag", "flags");
      }
      return box(b).exec(c, Exec(what), exit);
    });
    give(exit, out);
    return st;
  }
  static bh_status signal(void* b, bh_call* call, const char* id, size_t size,
                          int32_t number) noexcept {
    return guard(call, [&](Call& c) { return box(b).signal(c, view(id, size), number); });
  }

  static std::shared_ptr<bh_isolation> make(const Provides& texts) {
    auto t = std::make_shared<bh_isolation>();
    t->struct_size = sizeof *t;
    t->abi_minor = BH_ABI_MINOR;
    t->profile_schema = texts.profile_schema_.c_str();
    t->exec_schema = texts.exec_schema_.c_str();
    t->plan = &plan;
    t->create = &create;
    t->find = &find;
    t->list = &list;
    t->destroy = &destroy;
    t->release = &release;
    t->inspect = &inspect;
    t->exec = &exec;
    t->signal = &signal;
    t->get_extension = &Life<Isolation, T>::extension;
    return t;
  }
};

}  // namespace detail
}  // namespace bulkhead::sdk

#endif  // BULKHEAD_SDK_ISOLATION_HPP
