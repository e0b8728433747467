// bulkhead/sdk/provider.hpp - what every kind of provider has in common: its texts, and how one is
// probed, opened and closed.
#ifndef BULKHEAD_SDK_PROVIDER_HPP
#define BULKHEAD_SDK_PROVIDER_HPP

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "guard.hpp"

namespace bulkhead::sdk {

// How the operator wants a provider to run: a view, valid while it is opened or probed.
class Opening {
 public:
  explicit Opening(const bh_opening* raw) : raw_(raw) {}
  std::string_view config() const { return view(raw_->config); }  // JSON, satisfies config_schema
  std::string_view instance() const { return view(raw_->instance); }
  std::string_view owner() const { return view(raw_->owner); }
  std::string_view state_dir() const { return view(raw_->state_dir); }
  const bh_opening* raw() const { return raw_; }

 private:
  const bh_opening* raw_;
};

// The texts of one provider. Everything may be left out.
struct Provides {
  std::string title_ = {};
  std::string config_schema_ = R"({"type":"object","additionalProperties":false})";
  std::string capabilities_ = "{}";
  std::string profile_schema_ = R"({"type":"object","additionalProperties":false})";
  std::string session_schema_ = R"({"type":"object","additionalProperties":false})";
  std::string exec_schema_ = R"({"type":"object","additionalProperties":false})";

  Provides& title(std::string s) { return title_ = std::move(s), *this; }
  // JSON Schema of the operator's configuration; keys that it does not list are refused.
  Provides& config_schema(std::string json) { return config_schema_ = std::move(json), *this; }
  Provides& capabilities(std::string json) { return capabilities_ = std::move(json), *this; }
  // Browsers only: the options of one session.
  Provides& session_schema(std::string json) { return session_schema_ = std::move(json), *this; }
  // Isolation only: the part of abi/schemas/isolation_profile.json that is understood...
  Provides& profile_schema(std::string json) { return profile_schema_ = std::move(json), *this; }
  // ...and the options of one command: cwd, env, limits, tty.
  Provides& exec_schema(std::string json) { return exec_schema_ = std::move(json), *this; }
};

namespace detail {

// One provider and all that its table points to. Made once, never freed.
struct Provided {
  std::string id;
  Provides texts;
  bh_provider row{};
  std::shared_ptr<void> table;
};

template <class T, class = void>
struct HasOpen : std::false_type {};
template <class T>
struct HasOpen<
    T, std::void_t<decltype(T::open(std::declval<Call&>(), std::declval<const Opening&>()))>>
    : std::true_type {};

template <class T, class = void>
struct HasProbe : std::false_type {};
template <class T>
struct HasProbe<
    T, std::void_t<decltype(T::probe(std::declval<Call&>(), std::declval<const Opening&>()))>>
    : std::true_type {};

template <class T, class = void>
struct HasExtension : std::false_type {};
template <class T>
struct HasExtension<T, std::void_t<decltype(T::extension(std::declval<std::string_view>()))>>
    : std::true_type {};

// A T is made by its static open(Call&, const Opening&) -> Result<unique_ptr<T>>, or by its
// constructor from (const Opening&), or by the one from nothing.
template <class T>
Result<std::unique_ptr<T>> make(Call& call, const Opening& how) {
  if constexpr (HasOpen<T>::value) {
    return T::open(call, how);
  } else if constexpr (std::is_constructible_v<T, const Opening&>) {
    return std::make_unique<T>(how);
  } else {
    return std::make_unique<T>();
  }
}

// The provider's functions for a T that the host keeps as Base*.
template <class Base, class T>
struct Life {
  static bh_status probe(bh_call* call, const bh_opening* how) noexcept {
    return guard(call, [&](Call& c) -> Status { return T::probe(c, Opening(how)); });
  }
  static bh_status open(bh_call* call, const bh_opening* how, void** out) noexcept {
    return guard_object<Base>(call, out, [&](Call& c) { return make<T>(c, Opening(how)); });
  }
  static void close(void* self) noexcept { delete static_cast<Base*>(self); }
  static const void* extension(const char* id) noexcept {
    if constexpr (HasExtension<T>::value) {
      return T::extension(std::string_view(id != nullptr ? id : ""));
    } else {
      return nullptr;
    }
  }
};

template <class Base, class T>
std::unique_ptr<Provided> provide(std::string id, Provides texts) {
  static_assert(std::is_base_of_v<Base, T>, "a provider derives from the class of its kind");
  auto made = std::make_unique<Provided>();
  made->id = std::move(id);
  made->texts = std::move(texts);
  if (made->texts.title_.empty()) made->texts.title_ = made->id;
  bh_provider& row = made->row;
  row.struct_size = sizeof row;
  row.abi_minor = BH_ABI_MINOR;
  row.id = made->id.c_str();
  row.title = made->texts.title_.c_str();
  row.config_schema = made->texts.config_schema_.c_str();
  row.capabilities = made->texts.capabilities_.c_str();
  if constexpr (HasProbe<T>::value) row.probe = &Life<Base, T>::probe;
  row.open = &Life<Base, T>::open;
  row.close = &Life<Base, T>::close;
  return made;
}

}  // namespace detail
}  // namespace bulkhead::sdk

#endif  // BULKHEAD_SDK_PROVIDER_HPP
