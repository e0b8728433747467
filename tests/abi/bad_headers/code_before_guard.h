/* bulkhead/code_before_guard.h - breaks one rule of the ABI, for the lint to find. */
#define BH_EARLY 1
#ifndef BH_CODE_BEFORE_GUARD_H
#define BH_CODE_BEFORE_GUARD_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t abi_minor;
  /* [any] */
  void (*go_on)(void *self);
} bh_bad;

BH_END_DECLS
#endif /* BH_CODE_BEFORE_GUARD_H */
/* lint: guard */
