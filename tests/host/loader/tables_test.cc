// Tables shorter and longer than this host's, at the edge of what may be read.
#include "loader/tables.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "loader/probe/bare_call.h"
#include "support/catch.h"

namespace {

// Memory whose last byte is followed by a page that may not be touched.
class Guarded {
 public:
  explicit Guarded(size_t size) : page_(static_cast<size_t>(::sysconf(_SC_PAGESIZE))) {
    base_ = ::mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(base_ != MAP_FAILED);
    REQUIRE(::mprotect(static_cast<char*>(base_) + page_, page_, PROT_NONE) == 0);
    at_ = static_cast<char*>(base_) + page_ - size;
  }
  ~Guarded() { ::munmap(base_, 2 * page_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  // The beginning of `whole`, with struct_size set to what is there.
  template <class T>
  const T* hold(const T& whole, uint32_t size) {
    std::memcpy(at_, &whole, size);
    std::memcpy(at_, &size, sizeof size);
    return reinterpret_cast<const T*>(at_);
  }

 private:
  size_t page_;
  void* base_;
  char* at_;
};

bh_isolation isolation() {
  bh_isolation table{};
  table.struct_size = sizeof table;
  table.profile_schema = "{}";
  table.exec_schema = "{}";
  table.create = [](void*, bh_call*, const char*, size_t, const char*, size_t,
                    void**) -> bh_status { return BH_OK; };
  table.destroy = [](void*, bh_call*, const char*, size_t) -> bh_status { return BH_OK; };
  table.release = [](void*) {};
  table.exec = [](void*, bh_call*, const bh_exec*, bh_exit*) -> bh_status { return BH_OK; };
  return table;
}

bh_provider provider_of(const void* table) {
  bh_provider provider{};
  provider.struct_size = sizeof provider;
  provider.id = "box";
  provider.title = "Box";
  provider.config_schema = "{}";
  provider.capabilities = "{\"images\":true}";
  provider.table = table;
  return provider;
}

std::string complaint(const bh_provider& provider, const char* kind = BH_ISOLATION) {
  const auto copied = bh::copy_provider(&provider, kind, "provider 0");
  if (!copied) CHECK_FALSE(copied.error().hint.empty());
  return copied ? "" : copied.error().message;
}

}  // namespace

TEST_CASE("optional functions that are absent answer for themselves") {
  const bh_isolation table = isolation();
  const bh_provider raw = provider_of(&table);
  const auto provider = bh::copy_provider(&raw, BH_ISOLATION, "provider 0");
  REQUIRE(provider);
  CHECK(provider->capabilities.at("images") == true);
  const bh_isolation& full = provider->isolation();
  bh::probe::BareCall call;
  CHECK(full.plan(nullptr, call.call(), "{}", 2) == BH_UNIMPLEMENTED);
  CHECK(call.message() == "this plugin does not offer plan");
  CHECK(full.list(nullptr, call.call()) == BH_UNIMPLEMENTED);
  CHECK(full.inspect(nullptr, call.call()) == BH_UNIMPLEMENTED);
  CHECK(full.find(nullptr, call.call(), "a", 1, nullptr) == BH_UNIMPLEMENTED);
  CHECK(full.signal(nullptr, call.call(), "", 0, 15) == BH_UNIMPLEMENTED);
  CHECK(full.get_extension("bh.isolation.pty/1") == nullptr);
  void* self = &call;
  CHECK(provider->ops.open(call.call(), nullptr, &self) == BH_OK);
  CHECK(self == nullptr);
  CHECK(provider->ops.probe(call.call(), nullptr) == BH_OK);
  provider->ops.close(nullptr);
}

TEST_CASE("a table that ends after its last required function is whole enough") {
  const bh_isolation whole = isolation();
  const uint32_t size = offsetof(bh_isolation, exec) + sizeof whole.exec;
  Guarded guarded(size);
  const bh_provider raw = provider_of(guarded.hold(whole, size));
  const auto provider = bh::copy_provider(&raw, BH_ISOLATION, "provider 0");
  REQUIRE(provider);
  CHECK(provider->isolation().signal != nullptr);
  CHECK(provider->isolation().struct_size == sizeof(bh_isolation));
}

TEST_CASE("every shorter table is refused, and never read past its end") {
  const bh_isolation whole = isolation();
  const uint32_t least = offsetof(bh_isolation, exec) + sizeof whole.exec;
  for (uint32_t size = 8; size < least; size += 8) {
    Guarded guarded(size);
    const bh_provider raw = provider_of(guarded.hold(whole, size));
    INFO(size);
    CHECK(complaint(raw).find("its table is too short") != std::string::npos);
  }
  const bh_provider right = provider_of(&whole);
  for (uint32_t size = 8; size < sizeof right; size += 8) {
    Guarded guarded(size);
    const auto copied = bh::copy_provider(guarded.hold(right, size), BH_ISOLATION, "provider 0");
    REQUIRE_FALSE(copied);
    CHECK(copied.error().message.find("its table is too short") != std::string::npos);
  }
}

TEST_CASE("a longer table of a newer plugin is read as far as it is known") {
  struct Newer {
    bh_isolation known;
    void* later[4];
  } newer{isolation(), {}};
  std::memset(newer.later, 0xa5, sizeof newer.later);
  newer.known.struct_size = sizeof newer;
  newer.known.abi_minor = 7;
  const bh_provider raw = provider_of(&newer);
  const auto provider = bh::copy_provider(&raw, BH_ISOLATION, "provider 0");
  REQUIRE(provider);
  CHECK(provider->isolation().abi_minor == 7);
  CHECK(provider->isolation().get_extension("x") == nullptr);
}

TEST_CASE("each required function of each kind is asked for") {
  const auto missing = [](auto table, auto slot, const char* kind, const char* name) {
    table.*slot = nullptr;
    const std::string text = complaint(provider_of(&table), kind);
    INFO(text);
    CHECK(text.find(std::string(name) + " is NULL, but required") != std::string::npos);
  };
  missing(isolation(), &bh_isolation::create, BH_ISOLATION, "create");
  missing(isolation(), &bh_isolation::destroy, BH_ISOLATION, "destroy");
  missing(isolation(), &bh_isolation::release, BH_ISOLATION, "release");
  missing(isolation(), &bh_isolation::exec, BH_ISOLATION, "exec");
  missing(isolation(), &bh_isolation::profile_schema, BH_ISOLATION, "profile_schema");

  bh_toolset tools{};
  tools.struct_size = sizeof tools;
  tools.list = [](void*, bh_call*) -> bh_status { return BH_OK; };
  missing(tools, &bh_toolset::list, BH_TOOLSET, "list");
  missing(tools, &bh_toolset::call, BH_TOOLSET, "call");

  bh_browser browser{};
  browser.struct_size = sizeof browser;
  missing(browser, &bh_browser::session_schema, BH_BROWSER, "session_schema");

  bh_filestore store{};
  store.struct_size = sizeof store;
  missing(store, &bh_filestore::stat, BH_FILESTORE, "stat");
}

TEST_CASE("a provider's texts are looked at") {
  const bh_isolation table = isolation();
  bh_provider raw = provider_of(&table);
  raw.id = "Box";
  CHECK(complaint(raw).find("its id is not of the form") != std::string::npos);
  raw = provider_of(&table);
  raw.title = "two\nlines";
  CHECK(complaint(raw).find("its title is not one line") != std::string::npos);
  raw = provider_of(&table);
  raw.capabilities = "[]";
  CHECK(complaint(raw).find("capabilities is not a JSON object") != std::string::npos);
  raw = provider_of(&table);
  raw.close = [](void*) {};
  CHECK(complaint(raw).find("open and close belong together") != std::string::npos);
  raw = provider_of(nullptr);
  CHECK(complaint(raw) == "provider 0: table is NULL, but required");
}
