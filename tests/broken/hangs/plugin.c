/* Waits in its entry for what never comes. */
#include <unistd.h>

#define TINY_OWN_ENTRY
#include "tiny.h"

BH_EXPORT const bh_plugin *bh_plugin_entry_v1(bh_call *call) {
  if (call != NULL) pause();
  return &tiny_plugin;
}
