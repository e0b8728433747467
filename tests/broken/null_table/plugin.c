/* The entry gives no table, and no reason. */
#define TINY_OWN_ENTRY
#include "tiny.h"

BH_EXPORT const bh_plugin *bh_plugin_entry_v1(bh_call *call) {
  (void)call;
  return (void)&tiny_plugin, NULL;
}
