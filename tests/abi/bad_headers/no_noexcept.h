/* bulkhead/no_noexcept.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_NO_NOEXCEPT_H
#define BH_NO_NOEXCEPT_H

#include "plugin.h"

BH_BEGIN_DECLS

/* [last] */
BH_API void bh_bad_free(void *bad);

BH_END_DECLS
#endif /* BH_NO_NOEXCEPT_H */
/* lint: noexcept */
