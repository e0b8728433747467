/* bulkhead/function_body.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_FUNCTION_BODY_H
#define BH_FUNCTION_BODY_H

#include "plugin.h"

BH_BEGIN_DECLS

static inline uint32_t bh_one(void) { return 1; }

BH_END_DECLS
#endif /* BH_FUNCTION_BODY_H */
/* lint: syntax */
