/* bh_plugin ends before a required function. */
#define TINY_PLUGIN_SIZE (sizeof(bh_plugin) - 16)
#include "tiny.h"
