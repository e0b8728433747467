/* A toolset whose tables all end at a page without access. EDGE says how long they are:
 *   exact    as long as today's
 *   short    without the optional functions at their ends
 *   long     512 bytes longer than known, and those are 0xA5
 *   lacking  without a required one, bh_toolset.call: must be refused
 * The host must read nothing behind struct_size and nothing that it does not know. */
#include <bulkhead/toolset.h>

#include "guard.h"

#define EXACT 1
#define SHORT 2
#define LONG 3
#define LACKING 4
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define ID "edge_" TEXT(EDGE_NAME)

static size_t size_of(size_t full, size_t cut) {
  return EDGE == LONG ? full + 512 : EDGE == SHORT ? cut : full;
}

static bh_status list(void *self, bh_call *call) {
  static const char tool[] = "{\"name\":\"" ID
                             "\",\"description\":\"At the edge.\","
                             "\"input_schema\":{\"type\":\"object\"}}";
  (void)self;
  return call->api->item(call, tool, sizeof tool - 1);
}

static bh_status run(void *self, bh_call *call, const char *tool, size_t tool_len, const char *args,
                     size_t args_len, const bh_blob *const *blobs, size_t blob_count) {
  static const char result[] = "{\"content\":[{\"type\":\"text\",\"text\":\"" ID " ran\"}]}";
  (void)self, (void)tool, (void)tool_len, (void)args, (void)args_len, (void)blobs, (void)blob_count;
  return call->api->result(call, result, sizeof result - 1);
}

static const void *no_extension(const char *id) { return (void)id, (const void *)NULL; }
static void leave(const bh_host *host) { (void)host; }

static const bh_provider *providers[1];
static bh_provider_list provided = {sizeof(bh_provider_list), 1, providers};
static const bh_provider_list *provided_at_edge;

static const void *get_interface(const char *id) {
  return strcmp(id, BH_TOOLSET) == 0 ? provided_at_edge : NULL;
}

const bh_plugin *BH_PLUGIN_ENTRY(bh_call *call) {
  static const bh_plugin *made;
  static const char no_memory[] = "no memory";
  static const bh_toolset toolset = {sizeof(bh_toolset), BH_ABI_MINOR, list, run, no_extension};
  static bh_provider provider = {sizeof(bh_provider), BH_ABI_MINOR, ID, "Edge",
                                 "{\"type\":\"object\",\"additionalProperties\":false}", "{}",
                                 NULL, NULL, NULL, NULL};
  static const bh_plugin plugin = {sizeof(bh_plugin), BH_ABI_MINOR, "org.example." ID, "Edge",
                                   "1.0.0", "Example", "Apache-2.0", get_interface, leave};
  size_t toolset_size = EDGE == LACKING ? offsetof(bh_toolset, call)
                                        : size_of(sizeof toolset, offsetof(bh_toolset, get_extension));
  if (made != NULL) return made;
  provider.table = at_guard(&toolset, sizeof toolset, toolset_size);
  providers[0] = at_guard(&provider, sizeof provider, size_of(sizeof provider, sizeof provider));
  provided_at_edge = at_guard(&provided, sizeof provided, size_of(sizeof provided, sizeof provided));
  made = at_guard(&plugin, sizeof plugin, size_of(sizeof plugin, sizeof plugin));
  if (provider.table == NULL || providers[0] == NULL || provided_at_edge == NULL || made == NULL) {
    made = NULL;
    call->api->fail(call, BH_RESOURCE_EXHAUSTED, no_memory, sizeof no_memory - 1, "", 0);
  }
  return made;
}
