/* Its manifest then has a key that nobody knows. */
#include "tiny.h"
