/* bulkhead/line_comment.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_LINE_COMMENT_H
#define BH_LINE_COMMENT_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef struct bh_bad {
  uint32_t struct_size;
  uint32_t abi_minor;
  // Goes on.
  /* [any] */
  void (*go_on)(void *self);
} bh_bad;

BH_END_DECLS
#endif /* BH_LINE_COMMENT_H */
/* lint: c99 */
