/* Dies in an initialiser. */
#include <stdlib.h>

#include "tiny.h"

__attribute__((constructor)) static void die(void) { abort(); }
