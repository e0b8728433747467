/* Thinks that it is a program. */
#include <stdlib.h>

#define TINY_OWN_ENTRY
#include "tiny.h"

BH_EXPORT const bh_plugin *bh_plugin_entry_v1(bh_call *call) {
  if (call != NULL) exit(3);
  return &tiny_plugin;
}
