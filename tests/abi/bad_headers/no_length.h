/* bulkhead/no_length.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_NO_LENGTH_H
#define BH_NO_LENGTH_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t abi_minor;
  /* [any] */
  void (*log)(void *self, const char *text);
} bh_bad;

BH_END_DECLS
#endif /* BH_NO_LENGTH_H */
/* lint: length */
