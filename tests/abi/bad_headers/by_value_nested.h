/* bulkhead/by_value_nested.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_BY_VALUE_NESTED_H
#define BH_BY_VALUE_NESTED_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t abi_minor;
  bh_blob blob;
} bh_bad;

BH_END_DECLS
#endif /* BH_BY_VALUE_NESTED_H */
/* lint: by-value */
