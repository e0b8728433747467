/* bulkhead/macro_prefix.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_MACRO_PREFIX_H
#define BH_MACRO_PREFIX_H

#include "plugin.h"

BH_BEGIN_DECLS

#define MAX_TOOLS 16

BH_END_DECLS
#endif /* BH_MACRO_PREFIX_H */
/* lint: prefix */
