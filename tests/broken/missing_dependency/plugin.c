/* Needs a library that is not installed. */
#define TINY_OWN_ENTRY
#include "tiny.h"

int bh_test_gone(void);

BH_EXPORT const bh_plugin *bh_plugin_entry_v1(bh_call *call) {
  (void)call;
  return bh_test_gone() != 0 ? &tiny_plugin : NULL;
}
