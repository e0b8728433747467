/* bulkhead/long.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_LONG_H
#define BH_LONG_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t abi_minor;
  long size;
} bh_bad;

BH_END_DECLS
#endif /* BH_LONG_H */
/* lint: banned-type */
