/* bulkhead/keyword_rust.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_KEYWORD_RUST_H
#define BH_KEYWORD_RUST_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t abi_minor;
  void *impl;
} bh_bad;

BH_END_DECLS
#endif /* BH_KEYWORD_RUST_H */
/* lint: keyword */
