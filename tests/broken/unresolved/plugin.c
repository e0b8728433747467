/* Uses a function that nothing has. */
#define TINY_OWN_ENTRY
#include "tiny.h"

int bh_test_function_from_nowhere(void);

BH_EXPORT const bh_plugin *bh_plugin_entry_v1(bh_call *call) {
  (void)call;
  return bh_test_function_from_nowhere() != 0 ? &tiny_plugin : NULL;
}
