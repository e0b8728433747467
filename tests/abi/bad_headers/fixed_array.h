/* bulkhead/fixed_array.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_FIXED_ARRAY_H
#define BH_FIXED_ARRAY_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t abi_minor;
  uint32_t words[8];
} bh_bad;

BH_END_DECLS
#endif /* BH_FIXED_ARRAY_H */
/* lint: array */
