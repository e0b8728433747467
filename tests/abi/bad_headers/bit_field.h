/* bulkhead/bit_field.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_BIT_FIELD_H
#define BH_BIT_FIELD_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t abi_minor;
  uint32_t ready : 1;
} bh_bad;

BH_END_DECLS
#endif /* BH_BIT_FIELD_H */
/* lint: banned-type */
