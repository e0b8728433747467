/* bulkhead/free_of_any.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_FREE_OF_ANY_H
#define BH_FREE_OF_ANY_H

#include "plugin.h"

BH_BEGIN_DECLS

/* [any] */
BH_EXPORT void bh_bad_free(void *bad);

BH_END_DECLS
#endif /* BH_FREE_OF_ANY_H */
/* lint: thread-tag */
