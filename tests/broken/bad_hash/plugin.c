/* One byte is then added to its library. */
#include "tiny.h"
