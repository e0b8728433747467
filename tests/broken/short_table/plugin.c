/* The kind's table ends before a required function. */
#define TINY_TOOLSET_SIZE 16
#include "tiny.h"
