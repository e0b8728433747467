/* bulkhead/no_struct_size.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_NO_STRUCT_SIZE_H
#define BH_NO_STRUCT_SIZE_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t flags;
  uint32_t reserved;
} bh_bad;

BH_END_DECLS
#endif /* BH_NO_STRUCT_SIZE_H */
/* lint: struct-size */
