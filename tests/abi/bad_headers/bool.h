/* bulkhead/bool.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_BOOL_H
#define BH_BOOL_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t abi_minor;
  bool ready;
} bh_bad;

BH_END_DECLS
#endif /* BH_BOOL_H */
/* lint: banned-type */
