/* bulkhead/no_tag_on_callback.h - breaks one rule of the ABI, for the lint to find. */
#ifndef BH_NO_TAG_ON_CALLBACK_H
#define BH_NO_TAG_ON_CALLBACK_H

#include "plugin.h"

BH_BEGIN_DECLS

typedef bh_status (*bh_bad_fn)(void *ctx, const bh_blob *blob);

BH_END_DECLS
#endif /* BH_NO_TAG_ON_CALLBACK_H */
/* lint: thread-tag */
