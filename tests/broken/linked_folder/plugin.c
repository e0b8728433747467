/* Its folder is then replaced by a link to it. */
#include "tiny.h"
