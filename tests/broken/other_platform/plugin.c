/* Its manifest then has a library for another platform only. */
#include "tiny.h"
