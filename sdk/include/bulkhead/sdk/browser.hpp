// bulkhead/sdk/browser.hpp - base classes for browser drivers. The actions are listed in
// abi/browser-actions.md; what each function owes is said in bulkhead/browser.h.
#ifndef BULKHEAD_SDK_BROWSER_HPP
#define BULKHEAD_SDK_BROWSER_HPP

#include <bulkhead/browser.h>

#include <memory>
#include <string_view>

#include "provider.hpp"

namespace bulkhead::sdk {

// One session: cookies, storage and tabs of its own. Its destructor ends it. Functions are called
// from any thread, beside each other; order within a tab is the driver's to keep.
class BrowserSession {
 public:
  virtual ~BrowserSession() = default;
  virtual Status act(Call& call, std::string_view action, std::string_view args, Blobs blobs) = 0;
};

// The opened driver. Functions are called from any thread, beside each other.
class Browser {
 public:
  virtual ~Browser() = default;
  virtual Result<std::unique_ptr<BrowserSession>> start(Call& call, std::string_view id,
                                                        std::string_view options) = 0;
};

namespace detail {

template <class T>
struct BrowserTable {
  static bh_status start(void* self, bh_call* call, const char* id, size_t id_size,
                         const char* options, size_t size, void** out) noexcept {
    return guard_object<BrowserSession>(call, out, [&](Call& c) {
      return static_cast<Browser*>(self)->start(c, view(id, id_size), view(options, size));
    });
  }
  static void stop(void* session) noexcept { delete static_cast<BrowserSession*>(session); }
  static bh_status act(void* session, bh_call* call, const char* action, size_t action_size,
                       const char* args, size_t size, const bh_blob* const* blobs,
                       size_t count) noexcept {
    return guard(call, [&](Call& c) {
      return static_cast<BrowserSession*>(session)->act(c, view(action, action_size),
                                                        view(args, size), Blobs(blobs, count));
    });
  }
  static std::shared_ptr<bh_browser> make(const Provides& texts) {
    auto t = std::make_shared<bh_browser>();
    t->struct_size = sizeof *t;
    t->abi_minor = BH_ABI_MINOR;
    t->session_schema = texts.session_schema_.c_str();
    t->start = &start;
    t->stop = &stop;
    t->act = &act;
    t->get_extension = &Life<Browser, T>::extension;
    return t;
  }
};

}  // namespace detail
}  // namespace bulkhead::sdk

#endif  // BULKHEAD_SDK_BROWSER_HPP
