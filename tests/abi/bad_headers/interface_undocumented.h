/* bulkhead/interface_undocumented.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_INTERFACE_UNDOCUMENTED_H
#define BH_INTERFACE_UNDOCUMENTED_H

#include "plugin.h"

BH_BEGIN_DECLS

#define BH_BAD "bh.nowhere/1"

BH_END_DECLS
#endif /* BH_INTERFACE_UNDOCUMENTED_H */
/* lint: interface-id */
