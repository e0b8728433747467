/* Exports more than its entry: loads, with a remark. */
#include "tiny.h"

BH_EXPORT int bh_test_spare_one(void);
BH_EXPORT int bh_test_spare_two(void);
int bh_test_spare_one(void) { return 1; }
int bh_test_spare_two(void) { return 2; }
