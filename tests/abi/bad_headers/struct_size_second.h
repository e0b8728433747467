/* bulkhead/struct_size_second.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_STRUCT_SIZE_SECOND_H
#define BH_STRUCT_SIZE_SECOND_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t flags;
  uint32_t struct_size;
} bh_bad;

BH_END_DECLS
#endif /* BH_STRUCT_SIZE_SECOND_H */
/* lint: struct-size */
