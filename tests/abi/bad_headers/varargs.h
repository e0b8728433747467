/* bulkhead/varargs.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_VARARGS_H
#define BH_VARARGS_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t abi_minor;
  /* [any] */
  void (*log)(void *self, const char *format, size_t format_len, ...);
} bh_bad;

BH_END_DECLS
#endif /* BH_VARARGS_H */
/* lint: banned-type */
