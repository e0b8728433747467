/* Greets on standard output from its entry, without a newline that would flush it. */
#include <stdio.h>

#define TINY_OWN_ENTRY
#include "tiny.h"

BH_EXPORT const bh_plugin *bh_plugin_entry_v1(bh_call *call) {
  (void)call;
  printf("ready");
  return &tiny_plugin;
}
