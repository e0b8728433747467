#include "core/input.h"

#include <algorithm>
#include <cstring>

#include "core/call.h"

namespace bh {

bh_status KnownInput::receive(Call& call, void* buffer, std::size_t size, std::size_t* got) {
  *got = 0;
  if (bh_status stop = call.stop_reason()) return stop;
  *got = std::min(size, rest_.size());
  if (*got > 0) std::memcpy(buffer, rest_.data(), *got);
  rest_.remove_prefix(*got);
  return BH_OK;
}

bh_status NoInput::receive(Call& call, void*, std::size_t, std::size_t* got) {
  *got = 0;
  return call.stop_reason();
}

}  // namespace bh
