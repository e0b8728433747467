/* The entry fails with a code and not a word. */
#define TINY_OWN_ENTRY
#include "tiny.h"

BH_EXPORT const bh_plugin *bh_plugin_entry_v1(bh_call *call) {
  call->api->fail(call, BH_UNAVAILABLE, NULL, 0, NULL, 0);
  return (void)&tiny_plugin, NULL;
}
