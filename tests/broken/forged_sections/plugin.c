/* Its section headers then claim sizes beyond all memory: nobody who loads needs them. */
#include "tiny.h"
