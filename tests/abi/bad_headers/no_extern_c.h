/* bulkhead/no_extern_c.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_NO_EXTERN_C_H
#define BH_NO_EXTERN_C_H

#include "plugin.h"

#define BH_MAX_TOOLS 16

#endif /* BH_NO_EXTERN_C_H */
/* lint: extern-c */
