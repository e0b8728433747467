/* Its config schema has alternatives: nobody could say which keys it does not list. */
#define TINY_CONFIG_SCHEMA                                                             \
  "{\"type\":\"object\",\"properties\":{\"engine\":{\"oneOf\":[{\"type\":\"string\"}," \
  "{\"type\":\"integer\"}]}}}"
#include "tiny.h"
