/* Its ELF header is then changed to another machine's. */
#include "tiny.h"
