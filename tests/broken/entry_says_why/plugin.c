/* The entry fails as it should. */
#define TINY_OWN_ENTRY
#include "tiny.h"

BH_EXPORT const bh_plugin *bh_plugin_entry_v1(bh_call *call) {
  static const char why[] = "this host has no frobnicator";
  call->api->fail(call, BH_UNIMPLEMENTED, why, sizeof why - 1, NULL, 0);
  return (void)&tiny_plugin, NULL;
}
