/* bulkhead/trailing_space.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_TRAILING_SPACE_H
#define BH_TRAILING_SPACE_H

#include "plugin.h"

BH_BEGIN_DECLS

/* Ends in a space. */ 

BH_END_DECLS
#endif /* BH_TRAILING_SPACE_H */
/* lint: ascii */
