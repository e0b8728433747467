/* Greets on standard output from an initialiser. */
#include <stdio.h>

#include "tiny.h"

__attribute__((constructor)) static void greet(void) { printf("hello from a plugin\n"); }
