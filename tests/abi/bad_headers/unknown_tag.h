/* bulkhead/unknown_tag.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_UNKNOWN_TAG_H
#define BH_UNKNOWN_TAG_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t abi_minor;
  /* [any] [main] */
  void (*go_on)(void *self);
} bh_bad;

BH_END_DECLS
#endif /* BH_UNKNOWN_TAG_H */
/* lint: thread-tag */
