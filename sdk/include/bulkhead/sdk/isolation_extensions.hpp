// bulkhead/sdk/isolation_extensions.hpp - optional abilities of a sandbox (isolation_state.h) as
// classes that a Sandbox derives from beside its base:
//
//   class Box : public sdk::Sandbox, public sdk::Pty { ... };
//   class Backend : public sdk::Isolation {
//     static const void* extension(std::string_view id) { return sdk::extensions<sdk::Pty>(id); }
//
// A handle that does not derive from the class answers BH_UNIMPLEMENTED.
#ifndef BULKHEAD_SDK_ISOLATION_EXTENSIONS_HPP
#define BULKHEAD_SDK_ISOLATION_EXTENSIONS_HPP

#include <bulkhead/isolation_state.h>

#include "isolation.hpp"

namespace bulkhead::sdk {

class Pty {
 public:
  virtual Status resize(Call& call, std::string_view exec_id, uint32_t rows, uint32_t cols) = 0;

 protected:
  ~Pty() = default;
};

class Pause {
 public:
  virtual Status pause(Call& call) = 0;
  virtual Status resume(Call& call) = 0;

 protected:
  ~Pause() = default;
};

class Update {
 public:
  // The whole new profile, all or nothing; result() is its report.
  virtual Status update(Call& call, std::string_view profile) = 0;

 protected:
  ~Update() = default;
};

class Ports {
 public:
  // A connected, CLOEXEC stream socket to a TCP port inside; the caller closes it.
  virtual Result<bh_fd> dial(Call& call, uint32_t port) = 0;

 protected:
  ~Ports() = default;
};

namespace detail {

// body(Ability&, Call&) on the part of a sandbox that has the ability.
template <class Ability, class Body>
bh_status with(void* sandbox, bh_call* call, Body&& body) noexcept {
  return guard(call, [&](Call& c) -> Status {
    auto* able = dynamic_cast<Ability*>(static_cast<Sandbox*>(sandbox));
    if (able == nullptr) {
      return failure(BH_UNIMPLEMENTED, "this sandbox cannot do that", "not_offered");
    }
    return body(*able, c);
  });
}

template <class Ability>
struct Extension;

template <>
struct Extension<Pty> {
  static constexpr std::string_view kId = BH_ISOLATION_PTY;
  static bh_status resize(void* b, bh_call* call, const char* id, size_t size, uint32_t rows,
                          uint32_t cols) noexcept {
    return with<Pty>(b, call,
                     [&](Pty& p, Call& c) { return p.resize(c, view(id, size), rows, cols); });
  }
  static constexpr bh_isolation_pty kTable = {sizeof(bh_isolation_pty), BH_ABI_MINOR, &resize};
};

template <>
struct Extension<Pause> {
  static constexpr std::string_view kId = BH_ISOLATION_PAUSE;
  static bh_status pause(void* b, bh_call* call) noexcept {
    return with<Pause>(b, call, [&](Pause& p, Call& c) { return p.pause(c); });
  }
  static bh_status resume(void* b, bh_call* call) noexcept {
    return with<Pause>(b, call, [&](Pause& p, Call& c) { return p.resume(c); });
  }
  static constexpr bh_isolation_pause kTable = {sizeof(bh_isolation_pause), BH_ABI_MINOR, &pause,
                                                &resume};
};

template <>
struct Extension<Update> {
  static constexpr std::string_view kId = BH_ISOLATION_UPDATE;
  static bh_status update(void* b, bh_call* call, const char* profile, size_t size) noexcept {
    return with<Update>(b, call,
                        [&](Update& u, Call& c) { return u.update(c, view(profile, size)); });
  }
  static constexpr bh_isolation_update kTable = {sizeof(bh_isolation_update), BH_ABI_MINOR,
                                                 &update};
};

template <>
struct Extension<Ports> {
  static constexpr std::string_view kId = BH_ISOLATION_PORTS;
  static bh_status dial(void* b, bh_call* call, uint32_t port, bh_fd* out) noexcept {
    return with<Ports>(b, call, [&](Ports& p, Call& c) -> Status {
      auto fd = p.dial(c, port);
      if (!fd) return std::move(fd).failure();
      *out = *fd;
      return {};
    });
  }
  static constexpr bh_isolation_ports kTable = {sizeof(bh_isolation_ports), BH_ABI_MINOR, &dial};
};

}  // namespace detail

// The table for `id` among the named abilities, or null.
template <class... Abilities>
const void* extensions(std::string_view id) {
  const void* found = nullptr;
  auto look = [&](std::string_view name, const void* table) {
    if (name == id) found = table;
  };
  (look(detail::Extension<Abilities>::kId, &detail::Extension<Abilities>::kTable), ...);
  return found;
}

}  // namespace bulkhead::sdk

#endif  // BULKHEAD_SDK_ISOLATION_EXTENSIONS_HPP
