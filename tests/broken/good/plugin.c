/* Nothing is wrong with it: it loads beside all the others. */
#include "tiny.h"
