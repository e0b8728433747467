/* Made for a later major alone. */
#define TINY_OWN_ENTRY
#include "tiny.h"

BH_EXPORT const bh_plugin *bh_plugin_entry_v2(bh_call *call) {
  (void)call;
  return &tiny_plugin;
}
