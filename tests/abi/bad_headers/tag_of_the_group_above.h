/* bulkhead/tag_of_the_group_above.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_TAG_OF_THE_GROUP_ABOVE_H
#define BH_TAG_OF_THE_GROUP_ABOVE_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t abi_minor;
  /* [any] */
  void (*go_on)(void *self);

  void (*stop)(void *self);
} bh_bad;

BH_END_DECLS
#endif /* BH_TAG_OF_THE_GROUP_ABOVE_H */
/* lint: thread-tag */
