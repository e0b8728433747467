/* Built to link against, and not installed. */
#include <bulkhead/base.h>

BH_EXPORT int bh_test_gone(void);
int bh_test_gone(void) { return 1; }
