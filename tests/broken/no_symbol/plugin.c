/* A library like any other: it has functions, but not ours. */
#include <bulkhead/base.h>

BH_EXPORT int twice(int number) { return 2 * number; }
