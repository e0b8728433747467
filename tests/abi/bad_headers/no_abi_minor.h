/* bulkhead/no_abi_minor.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_NO_ABI_MINOR_H
#define BH_NO_ABI_MINOR_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t reserved;
  /* [any] */
  void (*go_on)(void *self);
} bh_bad;

BH_END_DECLS
#endif /* BH_NO_ABI_MINOR_H */
/* lint: abi-minor */
