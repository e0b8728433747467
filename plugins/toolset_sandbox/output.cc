#include "output.h"

#include <bulkhead/sdk/text.hpp>
#include <utility>

namespace toolset_sandbox {

void Output::add(std::string_view data) {
  bytes_ += data.size();
  if (head_.size() < kHead) {
    const size_t n = std::min(kHead - head_.size(), data.size());
    head_.append(data.substr(0, n));
    data.remove_prefix(n);
  }
  if (data.size() >= kTail) {
    tail_ = data.substr(data.size() - kTail);
    return;
  }
  tail_ += data;
  // Cut back only now and then, so that small chunks cost what they are long.
  if (tail_.size() > 2 * kTail) tail_.erase(0, tail_.size() - kTail);
}

void Output::collected(std::string text, uint64_t bytes, uint64_t missing) {
  head_ = std::move(text);
  bytes_ = bytes;
  missing_ = missing;
  collected_ = true;
}

uint64_t Output::missing() const {
  if (collected_) return missing_;
  return bytes_ - head_.size() - std::min(tail_.size(), kTail);
}

std::string Output::text() const {
  namespace sdk = bulkhead::sdk;
  if (collected_ || missing() == 0) return sdk::to_utf8(head_ + tail_);
  const std::string_view tail =
      std::string_view(tail_).substr(tail_.size() - std::min(tail_.size(), kTail));
  return sdk::to_utf8(head_) + "\n[... " + std::to_string(missing()) + " bytes left out ...]\n" +
         sdk::to_utf8(tail);
}

}  // namespace toolset_sandbox
