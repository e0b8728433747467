/* bulkhead/interface_shape.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_INTERFACE_SHAPE_H
#define BH_INTERFACE_SHAPE_H

#include "plugin.h"

BH_BEGIN_DECLS

#define BH_BAD "bh.isolation" /* no major */

BH_END_DECLS
#endif /* BH_INTERFACE_SHAPE_H */
/* lint: interface-id */
