/* bulkhead/no_length_of_bytes.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_NO_LENGTH_OF_BYTES_H
#define BH_NO_LENGTH_OF_BYTES_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t abi_minor;
  /* [any] */
  void (*put)(void *self, const void *data);
} bh_bad;

BH_END_DECLS
#endif /* BH_NO_LENGTH_OF_BYTES_H */
/* lint: length */
