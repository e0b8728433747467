/* bulkhead/not_ascii.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_NOT_ASCII_H
#define BH_NOT_ASCII_H

#include "plugin.h"

BH_BEGIN_DECLS

/* Two → three. */

BH_END_DECLS
#endif /* BH_NOT_ASCII_H */
/* lint: ascii */
