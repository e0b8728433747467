/* Its library is then taken away. */
#include "tiny.h"
