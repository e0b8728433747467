/* Its library is then made writable by the group. */
#include "tiny.h"
