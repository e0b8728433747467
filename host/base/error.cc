#include "base/error.h"

#include <cerrno>
#include <system_error>

#include "base/json.h"

namespace bh {

namespace {

// A caller's own argument comes back in many errors, and an argument may be of any size: its ends say
// as much, and what would help stands last.
constexpr std::size_t kHead = 3072;
constexpr std::size_t kTail = 1024;

std::string shortened(std::string text) {
  if (text.size() <= kHead + kTail) return text;
  auto inside = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0u) == 0x80u;
  };
  std::size_t head = kHead;
  std::size_t tail = text.size() - kTail;
  while (head > 0 && inside(head)) head--;
  while (tail < text.size() && inside(tail)) tail++;
  std::string out(text, 0, head);
  return out.append("[...]").append(text, tail);
}

}  // namespace

Error Error::within(std::string_view what) const {
  Error out = *this;
  out.message = std::string(what) + ": " + message;
  return out;
}

Failure fail(bh_status code, std::string message) {
  return tl::unexpected(Error{code, shortened(std::move(message)), {}});
}

Failure fail(bh_status code, std::string message, std::string_view reason,
             std::initializer_list<Detail> more) {
  std::string details = "{\"reason\":" + json::quote(reason);
  for (const auto& [key, value] : more) {
    details += ',' + json::quote(key) + ':' + json::quote(shortened(std::string(value)));
  }
  details += '}';
  return tl::unexpected(Error{code, shortened(std::move(message)), std::move(details)});
}

bh_status code_of_errno(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
    case ESRCH:
      return BH_NOT_FOUND;
    case EEXIST:
      return BH_ALREADY_EXISTS;
    case EACCES:
    case EPERM:
    case EROFS:
      return BH_PERMISSION_DENIED;
    case ENOMEM:
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case EFBIG:
      return BH_RESOURCE_EXHAUSTED;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
    case EXDEV:
      return BH_INVALID_ARGUMENT;
    case EBUSY:
    case ENOTEMPTY:
      return BH_FAILED_PRECONDITION;
    case ENOSYS:
    case EOPNOTSUPP:
      return BH_UNIMPLEMENTED;
    case EAGAIN:
    case ECONNREFUSED:
      return BH_UNAVAILABLE;
    default:
      return BH_UNKNOWN;
  }
}

Failure fail_errno(int number, std::string what) {
  std::string text = std::generic_category().message(number);
  std::string errno_text = std::to_string(number);
  return fail(code_of_errno(number), std::move(what) + ": " + text, "system",
              {{"errno", errno_text}});
}

}  // namespace bh
