/* Its library is then replaced by a program. */
#include "tiny.h"
