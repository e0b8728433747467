/* Its library then loses its second half. */
#include "tiny.h"
