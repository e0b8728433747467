/* Its config schema is no JSON. */
#define TINY_CONFIG_SCHEMA "type: object"
#include "tiny.h"
