/* Its manifest then claims the id of the good one, which comes first. */
#include "tiny.h"
