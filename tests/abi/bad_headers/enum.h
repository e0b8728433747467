/* bulkhead/enum.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_ENUM_H
#define BH_ENUM_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef enum bh_level { BH_LOW, BH_HIGH } bh_level;

BH_END_DECLS
#endif /* BH_ENUM_H */
/* lint: banned-type */
