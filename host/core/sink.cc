#include "core/sink.h"

#include "core/call.h"

namespace bh {

// `from` stays the answering call: its own deadline must end a wait further up.
bh_status PassSink::item(Call& from, std::string_view json) { return up_.sink().item(from, json); }

bh_status PassSink::emit(Call& from, int stream, std::string_view bytes) {
  return up_.sink().emit(from, stream, bytes);
}

bh_status PassSink::attach(Call& from, const BlobView& blob) {
  return up_.sink().attach(from, blob);
}

void PassSink::event(Call& from, std::string_view json) { up_.sink().event(from, json); }

}  // namespace bh
