// bulkhead/sdk/isolation/seccomp_code.hpp - from an answer per system call to the instructions of a
// filter. libseccomp cannot say "this argument is none of those" in a list of what is allowed, nor
// "any number above that one"; a search over the numbers can, in eight comparisons.
#ifndef BULKHEAD_SDK_ISOLATION_SECCOMP_CODE_HPP
#define BULKHEAD_SDK_ISOLATION_SECCOMP_CODE_HPP

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::sdk::isolation {

using Instructions = std::vector<sock_filter>;

namespace detail {

constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
constexpr uint32_t kNotThere = SECCOMP_RET_ERRNO | ENOSYS;
constexpr uint32_t kNoSuchThing = SECCOMP_RET_ERRNO | EOPNOTSUPP;
constexpr uint32_t kAsk = 0x7FC00000u;  // SECCOMP_RET_USER_NOTIF

inline sock_filter step(uint16_t code, uint32_t k, uint8_t yes = 0, uint8_t no = 0) {
  return {code, yes, no, k};
}
inline sock_filter answer(uint32_t action) { return step(BPF_RET | BPF_K, action); }
inline sock_filter load(size_t offset) {
  return step(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
}
// The lower half of an argument: all that the kernel looks at where it takes an int.
inline sock_filter load_argument(unsigned number) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  constexpr size_t kLow = 4;
#else
  constexpr size_t kLow = 0;
#endif
  return load(offsetof(seccomp_data, args) + number * sizeof(uint64_t) + kLow);
}

inline void append(Instructions& to, const Instructions& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// ---- what is asked of a call's arguments; each ends in an answer

inline Instructions always(uint32_t action) { return {answer(action)}; }

// Refused when any of `bits` is set.
inline Instructions refuse_bits(unsigned argument, uint32_t bits, uint32_t otherwise = kAllow) {
  return {load_argument(argument), step(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1), answer(kRefuse),
          answer(otherwise)};
}

// Allowed when what `mask` leaves of it is one of them, else refused.
inline Instructions one_of(unsigned argument, std::initializer_list<uint32_t> values,
                           uint32_t mask = UINT32_MAX) {
  Instructions out{load_argument(argument), step(BPF_ALU | BPF_AND | BPF_K, mask)};
  for (const uint32_t value : values) {
    out.push_back(step(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    out.push_back(answer(kAllow));
  }
  out.push_back(answer(kRefuse));
  return out;
}

// Refused when it is one of them.
inline Instructions none_of(unsigned argument, std::initializer_list<uint32_t> values,
                            const Instructions& otherwise = {answer(kAllow)}) {
  Instructions out{load_argument(argument)};
  for (const uint32_t value : values) {
    out.push_back(step(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    out.push_back(answer(kRefuse));
  }
  append(out, otherwise);
  return out;
}

// `then` where any of `bits` is set, allowed where none is.
inline Instructions where_bits(unsigned argument, uint32_t bits, const Instructions& then) {
  Instructions out{load_argument(argument), step(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0),
                   answer(kAllow)};
  append(out, then);
  return out;
}

// `then` where it is that value; else on to what is appended behind.
inline Instructions where_equal(unsigned argument, uint32_t value, const Instructions& then) {
  Instructions out{load_argument(argument), step(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0),
                   step(BPF_JMP | BPF_JA, static_cast<uint32_t>(then.size()))};
  append(out, then);
  return out;
}

}  // namespace detail

// One answer per number from 0 to the newest known one; more can be asked of the arguments.
class CallTable {
 public:
  CallTable(uint32_t architecture, uint32_t newest)
      : architecture_(architecture), calls_(newest + 1, detail::always(detail::kRefuse)) {}

  // A number that this architecture does not have is left out.
  void set(int number, Instructions code) {
    if (number >= 0 && static_cast<size_t>(number) < calls_.size()) {
      calls_[static_cast<size_t>(number)] = std::move(code);
    }
  }

  // The whole filter. Another architecture of the same machine, x32 among them: EPERM. Numbers
  // above the newest known one: ENOSYS, as from a kernel that does not have them.
  Instructions program() const {
    using namespace detail;
    Instructions out{load(offsetof(seccomp_data, arch)),
                     step(BPF_JMP | BPF_JEQ | BPF_K, architecture_, 1, 0), answer(kRefuse),
                     load(offsetof(seccomp_data, nr)),
                     step(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1), answer(kRefuse),
                     step(BPF_JMP | BPF_JGE | BPF_K, static_cast<uint32_t>(calls_.size()), 0, 1),
                     answer(kNotThere)};
    std::vector<size_t> starts;
    for (size_t n = 0; n < calls_.size(); ++n) {
      if (n == 0 || !same(calls_[n], calls_[n - 1])) starts.push_back(n);
    }
    append(out, search(starts, 0, starts.size()));
    return out;
  }

 private:
  static bool same(const Instructions& a, const Instructions& b) {
    auto bytes = [](const Instructions& code) {
      return std::string_view(reinterpret_cast<const char*>(code.data()),
                              code.size() * sizeof(sock_filter));
    };
    return bytes(a) == bytes(b);
  }

  // Numbers between two starts have the same answer. The call's number is loaded.
  Instructions search(const std::vector<size_t>& starts, size_t from, size_t to) const {
    using namespace detail;
    if (to - from == 1) return calls_[starts[from]];
    const size_t middle = from + (to - from) / 2;
    const Instructions left = search(starts, from, middle);
    const Instructions right = search(starts, middle, to);
    const auto first = static_cast<uint32_t>(starts[middle]);
    Instructions out;
    // A conditional jump goes 255 instructions far at most.
    if (left.size() <= 255) {
      out = {step(BPF_JMP | BPF_JGE | BPF_K, first, static_cast<uint8_t>(left.size()), 0)};
    } else {
      out = {step(BPF_JMP | BPF_JGE | BPF_K, first, 0, 1),
             step(BPF_JMP | BPF_JA, static_cast<uint32_t>(left.size()))};
    }
    append(out, left);
    append(out, right);
    return out;
  }

  uint32_t architecture_;
  std::vector<Instructions> calls_;
};

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_SECCOMP_CODE_HPP
