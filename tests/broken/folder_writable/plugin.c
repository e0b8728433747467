/* Its folder is then made writable by everybody. */
#include "tiny.h"
