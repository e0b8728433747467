/* bulkhead/union.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_UNION_H
#define BH_UNION_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t abi_minor;
  union { void *one; void *other; } either;
} bh_bad;

BH_END_DECLS
#endif /* BH_UNION_H */
/* lint: banned-type */
