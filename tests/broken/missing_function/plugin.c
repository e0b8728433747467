/* A required function is NULL. */
#define TINY_CALL NULL
#include "tiny.h"
