/* Its manifest then asks for a later minor of the host. */
#include "tiny.h"
