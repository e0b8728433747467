/* What this header is for stands nowhere. */
#ifndef BH_NO_OPENING_H
#define BH_NO_OPENING_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t abi_minor;
  /* [any] */
  void (*go_on)(void *self);
} bh_bad;

BH_END_DECLS
#endif /* BH_NO_OPENING_H */
/* lint: conventions-first */
