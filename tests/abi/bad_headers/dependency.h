/* bulkhead/dependency.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_DEPENDENCY_H
#define BH_DEPENDENCY_H

#include <sys/types.h>

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t abi_minor;
  /* [any] */
  void (*go_on)(void *self);
} bh_bad;

BH_END_DECLS
#endif /* BH_DEPENDENCY_H */
/* lint: include */
