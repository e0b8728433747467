/* bulkhead/long_line.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_LONG_LINE_H
#define BH_LONG_LINE_H

#include "plugin.h"

BH_BEGIN_DECLS

/* This comment is longer than the hundred columns that a header may have, and so it is refused here. */

BH_END_DECLS
#endif /* BH_LONG_LINE_H */
/* lint: line-length */
