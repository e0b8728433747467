#include "loader/stubs.h"

#include <string>

namespace bh {
namespace {

bh_status absent(bh_call* call, const char* function) {
  if (call == nullptr || call->api == nullptr || call->api->fail == nullptr) {
    return BH_UNIMPLEMENTED;
  }
  const std::string message = std::string("this plugin does not offer ") + function;
  static constexpr std::string_view kDetails = R"({"reason":"not_offered"})";
  return call->api->fail(call, BH_UNIMPLEMENTED, message.data(), message.size(), kDetails.data(),
                         kDetails.size());
}

bh_status probe(bh_call* call, const bh_opening*) {
  // No probe means: always usable.
  return call->api->result(call, "{}", 2);
}

bh_status open(bh_call*, const bh_opening*, void** out) {
  *out = nullptr;
  return BH_OK;
}

void close(void*) {}

bh_status plan(void*, bh_call* call, const char*, size_t) { return absent(call, "plan"); }
bh_status find(void*, bh_call* call, const char*, size_t, void**) { return absent(call, "find"); }
bh_status list(void*, bh_call* call) { return absent(call, "list"); }
bh_status inspect(void*, bh_call* call) { return absent(call, "inspect"); }
bh_status signal(void*, bh_call* call, const char*, size_t, int32_t) {
  return absent(call, "signal");
}
const void* no_extension(const char*) { return nullptr; }

template <class Function>
void fill(Function& slot, Function stub) {
  if (slot == nullptr) slot = stub;
}

}  // namespace

void fill_stubs(bh_provider& table) {
  fill(table.probe, &probe);
  fill(table.open, &open);
  fill(table.close, &close);
}

void fill_stubs(bh_isolation& table) {
  fill(table.plan, &plan);
  fill(table.find, &find);
  fill(table.list, &list);
  fill(table.inspect, &inspect);
  fill(table.signal, &signal);
  fill(table.get_extension, &no_extension);
}

void fill_stubs(bh_browser& table) { fill(table.get_extension, &no_extension); }
void fill_stubs(bh_filestore& table) { fill(table.get_extension, &no_extension); }
void fill_stubs(bh_toolset& table) { fill(table.get_extension, &no_extension); }

}  // namespace bh
