/* bulkhead/array_of_structs_parameter.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_ARRAY_OF_STRUCTS_PARAMETER_H
#define BH_ARRAY_OF_STRUCTS_PARAMETER_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t abi_minor;
  /* [any] */
  void (*take)(void *self, const bh_blob *blobs, size_t blob_count);
} bh_bad;

BH_END_DECLS
#endif /* BH_ARRAY_OF_STRUCTS_PARAMETER_H */
/* lint: array-of-structs */
