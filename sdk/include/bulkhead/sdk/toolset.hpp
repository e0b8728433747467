// bulkhead/sdk/toolset.hpp - base class for toolsets. For the usual case, tools that are known when
// the plugin is built, derive from Tools (bulkhead/sdk/tool.hpp) in its place.
#ifndef BULKHEAD_SDK_TOOLSET_HPP
#define BULKHEAD_SDK_TOOLSET_HPP

#include <bulkhead/toolset.h>

#include <memory>
#include <string_view>

#include "provider.hpp"

namespace bulkhead::sdk {

// The opened toolset. Functions are called from any thread, beside each other.
class Toolset {
 public:
  virtual ~Toolset() = default;
  // An item() per tool, in a fixed order: abi/schemas/tool.json.
  virtual Status list(Call& call) = 0;
  // `args` satisfies the tool's schema. result(): abi/schemas/tool_result.json.
  virtual Status call(Call& call, std::string_view tool, std::string_view args, Blobs blobs) = 0;
};

namespace detail {

template <class T>
struct ToolsetTable {
  static Toolset& self(void* p) { return *static_cast<Toolset*>(p); }

  static bh_status list(void* s, bh_call* call) noexcept {
    return guard(call, [&](Call& c) { return self(s).list(c); });
  }
  static bh_status run(void* s, bh_call* call, const char* tool, size_t tool_size, const char* args,
                       size_t args_size, const bh_blob* const* blobs, size_t blob_count) noexcept {
    return guard(call, [&](Call& c) {
      return self(s).call(c, view(tool, tool_size), view(args, args_size),
                          Blobs(blobs, blob_count));
    });
  }
  static std::shared_ptr<bh_toolset> make(const Provides&) {
    auto t = std::make_shared<bh_toolset>();
    t->struct_size = sizeof *t;
    t->abi_minor = BH_ABI_MINOR;
    t->list = &list;
    t->call = &run;
    t->get_extension = &Life<Toolset, T>::extension;
    return t;
  }
};

}  // namespace detail
}  // namespace bulkhead::sdk

#endif  // BULKHEAD_SDK_TOOLSET_HPP
