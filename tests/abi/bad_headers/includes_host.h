/* bulkhead/includes_host.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_INCLUDES_HOST_H
#define BH_INCLUDES_HOST_H

#include "host.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t abi_minor;
  /* [any] */
  void (*go_on)(void *self);
} bh_bad;

BH_END_DECLS
#endif /* BH_INCLUDES_HOST_H */
/* lint: include */
