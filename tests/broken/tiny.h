/* tiny.h - the smallest toolset plugin that is right in everything. Each folder here includes it
 * and breaks one thing, by defining a macro beforehand or by an entry of its own (TINY_OWN_ENTRY).
 * TINY_NAME is the folder's name: the plugin is org.example.NAME, its provider NAME. */
#ifndef TINY_H
#define TINY_H

#include <bulkhead/plugin.h>
#include <bulkhead/toolset.h>

#ifndef TINY_ID
#define TINY_ID "org.example." TINY_NAME
#endif
#ifndef TINY_PROVIDER
#define TINY_PROVIDER TINY_NAME
#endif
#ifndef TINY_CONFIG_SCHEMA
#define TINY_CONFIG_SCHEMA "{\"type\":\"object\",\"additionalProperties\":false}"
#endif
#ifndef TINY_CALL
#define TINY_CALL tiny_call
#endif
#ifndef TINY_TOOLSET_SIZE
#define TINY_TOOLSET_SIZE sizeof(bh_toolset)
#endif
#ifndef TINY_PLUGIN_SIZE
#define TINY_PLUGIN_SIZE sizeof(bh_plugin)
#endif

BH_BEGIN_DECLS

static bh_status tiny_list(void *self, bh_call *call) {
  (void)self;
  (void)call;
  return BH_OK;
}

static inline bh_status tiny_call(void *self, bh_call *call, const char *tool, size_t tool_len,
                                  const char *args, size_t args_len, const bh_blob *const *blobs,
                                  size_t blob_count) {
  (void)self, (void)tool, (void)tool_len, (void)args, (void)args_len, (void)blobs;
  (void)blob_count;
  return call->api->fail(call, BH_NOT_FOUND, "there are no tools here", 23, NULL, 0);
}

static const bh_toolset tiny_toolset = {TINY_TOOLSET_SIZE, BH_ABI_MINOR, tiny_list, TINY_CALL,
                                        NULL};

static const bh_provider tiny_provider = {sizeof(bh_provider),
                                          BH_ABI_MINOR,
                                          TINY_PROVIDER,
                                          "A tiny plugin",
                                          TINY_CONFIG_SCHEMA,
                                          "{}",
                                          NULL,
                                          NULL,
                                          NULL,
                                          &tiny_toolset};
static const bh_provider *const tiny_items[] = {&tiny_provider};
static const bh_provider_list tiny_providers = {sizeof(bh_provider_list), 1, tiny_items};

static int tiny_same(const char *a, const char *b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

static const void *tiny_get_interface(const char *interface_id) {
  return tiny_same(interface_id, BH_TOOLSET) ? &tiny_providers : NULL;
}

static void tiny_shutdown(const bh_host *host) { (void)host; }

static const bh_plugin tiny_plugin = {
    TINY_PLUGIN_SIZE, BH_ABI_MINOR,       TINY_ID,      "A tiny plugin", "1.0.0", "Example",
    "Apache-2.0",     tiny_get_interface, tiny_shutdown};

#ifndef TINY_OWN_ENTRY
BH_EXPORT const bh_plugin *bh_plugin_entry_v1(bh_call *call) {
  (void)call;
  return &tiny_plugin;
}
#endif

BH_END_DECLS
#endif /* TINY_H */
