/* bulkhead/by_value_result.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_BY_VALUE_RESULT_H
#define BH_BY_VALUE_RESULT_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t abi_minor;
  /* [any] */
  bh_str (*title)(void *self);
} bh_bad;

BH_END_DECLS
#endif /* BH_BY_VALUE_RESULT_H */
/* lint: by-value */
