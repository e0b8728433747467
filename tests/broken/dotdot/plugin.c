/* Its manifest then names a library outside its folder. */
#include "tiny.h"
