/* bulkhead/by_value_parameter.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_BY_VALUE_PARAMETER_H
#define BH_BY_VALUE_PARAMETER_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t abi_minor;
  /* [any] */
  void (*log)(void *self, bh_str text);
} bh_bad;

BH_END_DECLS
#endif /* BH_BY_VALUE_PARAMETER_H */
/* lint: by-value */
