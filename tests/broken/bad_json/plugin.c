/* Its manifest is then cut short. */
#include "tiny.h"
