/* Its library is then replaced by a text. */
#include "tiny.h"
