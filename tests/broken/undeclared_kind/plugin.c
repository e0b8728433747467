/* Beside its toolset the binary offers a file store that the manifest does not tell of. */
#include <bulkhead/filestore.h>

#define TINY_OWN_ENTRY
#include "tiny.h"

static bh_status any_stat(void *self, bh_call *call, const char *path, size_t path_len,
                          bh_file_fn each, void *ctx) {
  (void)self, (void)call, (void)path, (void)path_len, (void)each, (void)ctx;
  return BH_NOT_FOUND;
}
static bh_status any_list(void *self, bh_call *call, const char *path, size_t path_len,
                          uint32_t flags, const char *after, size_t after_len, bh_file_fn each,
                          void *ctx) {
  (void)self, (void)call, (void)path, (void)path_len, (void)flags, (void)after;
  (void)after_len, (void)each, (void)ctx;
  return BH_OK;
}
static bh_status any_read(void *self, bh_call *call, const char *path, size_t path_len,
                          int64_t offset, int64_t size) {
  (void)self, (void)call, (void)path, (void)path_len, (void)offset, (void)size;
  return BH_NOT_FOUND;
}
static bh_status any_write(void *self, bh_call *call, const char *path, size_t path_len,
                           const bh_write *what) {
  (void)self, (void)call, (void)path, (void)path_len, (void)what;
  return BH_NOT_FOUND;
}
static bh_status any_remove(void *self, bh_call *call, const char *path, size_t path_len,
                            uint32_t flags) {
  (void)self, (void)call, (void)path, (void)path_len, (void)flags;
  return BH_NOT_FOUND;
}

static const bh_filestore store = {
    sizeof(bh_filestore), BH_ABI_MINOR, any_stat, any_list, any_read, any_write, any_remove, NULL};
static const bh_provider hidden = {
    sizeof(bh_provider), BH_ABI_MINOR, "hidden", "Hidden", "{}", "{}", NULL, NULL, NULL, &store};
static const bh_provider *const hidden_items[] = {&hidden};
static const bh_provider_list hidden_list = {sizeof(bh_provider_list), 1, hidden_items};

static const void *more_interfaces(const char *interface_id) {
  return tiny_same(interface_id, BH_FILESTORE) ? &hidden_list : tiny_get_interface(interface_id);
}

BH_EXPORT const bh_plugin *bh_plugin_entry_v1(bh_call *call) {
  static bh_plugin plugin;
  (void)call;
  plugin = tiny_plugin;
  plugin.get_interface = more_interfaces;
  return &plugin;
}
