// bh_runtime_* and bh_session_*: builds the runtime out of the rooms.
#include "api/config.h"
#include "api/handles.h"
#include "operations/catalogue.h"

#include <thread>
#include <utility>

namespace {

using bh::api::absent;
using bh::api::guarded;
using bh::api::missing;
using bh::api::view;

bh::Result<std::shared_ptr<bh::Engine>> build(std::string_view text) {
  auto config = bh::read_config(text);
  if (!config) return tl::unexpected(std::move(config).error());
  auto root = bh::DataRoot::open(config->host.data_root);
  if (!root) return tl::unexpected(std::move(root).error());
  auto engine = std::make_shared<bh::Engine>(bh::catalogue(), config->workers);
  if (!config->log_file.empty()) BH_TRY(engine->log().open_file(config->log_file, config->log_level));
  auto rooms = std::make_unique<bh::HostRooms>(*engine, std::move(config->host), std::move(*root));
  auto named = rooms->check_config_names();
  engine->set_rooms(std::move(rooms));
  if (!named) {
    (void)engine->close(std::chrono::seconds(1));
    return tl::unexpected(std::move(named).error());
  }
  return engine;
}

}  // namespace

extern "C" {

bh_status bh_runtime_new(const char* config, size_t config_len, bh_runtime** out,
                         bh_fault** f) noexcept {
  if (out == nullptr) return missing(f, "out");
  *out = nullptr;
  if (absent(config, config_len)) return missing(f, "config");
  return guarded(f, [&]() -> bh::Result<void> {
    auto engine = build(view(config, config_len));
    if (!engine) return tl::unexpected(std::move(engine).error());
    *out = std::make_unique<bh_runtime>(bh_runtime{std::move(*engine)}).release();
    return {};
  });
}

bh_status bh_runtime_close(bh_runtime* rt, int32_t timeout_ms, bh_fault** f) noexcept {
  if (rt == nullptr) return missing(f, "rt");
  return guarded(f, [&]() -> bh::Result<void> {
    if (rt->engine->forked()) return rt->engine->usable();
    return rt->engine->close(std::chrono::milliseconds(timeout_ms < 0 ? 0 : timeout_ms));
  });
}

void bh_runtime_free(bh_runtime* rt) noexcept {
  if (rt == nullptr) return;
  std::unique_ptr<bh_runtime> gone(rt);
  std::shared_ptr<bh::Engine> engine = std::move(gone->engine);
  if (engine->forked()) {
    // Threads and locks of the parent's do not exist here; what is left is memory.
    (void)std::make_unique<std::shared_ptr<bh::Engine>>(std::move(engine)).release();
    return;
  }
  if (engine->closed()) return;
  try {
    // Not closed first: no _free waits, so a thread of its own does what close() would.
    bh::SignalsBlocked inherited_by_the_thread;
    std::thread([engine] {
      if (engine->close(std::chrono::seconds(10))) return;
      // A stuck plugin still uses it.
      (void)std::make_unique<std::shared_ptr<bh::Engine>>(engine).release();
    }).detach();
  } catch (const std::exception&) {
    (void)std::make_unique<std::shared_ptr<bh::Engine>>(std::move(engine)).release();
  }
}

bh_status bh_session_new(bh_runtime* rt, const char* config, size_t config_len, bh_session** out,
                         bh_fault** f) noexcept {
  if (rt == nullptr) return missing(f, "rt");
  if (out == nullptr) return missing(f, "out");
  *out = nullptr;
  if (absent(config, config_len)) return missing(f, "config");
  return guarded(f, [&]() -> bh::Result<void> {
    BH_TRY(rt->engine->usable());
    auto session = bh::read_session_config(view(config, config_len));
    if (!session) return tl::unexpected(std::move(session).error());
    auto made = std::make_unique<bh_session>();
    made->engine = rt->engine;
    made->session = std::make_shared<const bh::Session>(std::move(*session));
    *out = made.release();
    return {};
  });
}

void bh_session_free(bh_session* s) noexcept {
  // In the child of a fork what hangs on it is the parent's: forgotten, not ended.
  if (s != nullptr && s->engine->forked()) return;
  std::unique_ptr<bh_session> gone(s);
}

}  // extern "C"
