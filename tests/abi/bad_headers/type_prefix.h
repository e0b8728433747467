/* bulkhead/type_prefix.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_TYPE_PREFIX_H
#define BH_TYPE_PREFIX_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bad_table {
  uint32_t struct_size;
  uint32_t abi_minor;
  /* [any] */
  void (*go_on)(void *self);
} bad_table;

BH_END_DECLS
#endif /* BH_TYPE_PREFIX_H */
/* lint: prefix */
