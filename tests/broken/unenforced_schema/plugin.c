/* Its config schema asks for what the host would not enforce. */
#define TINY_CONFIG_SCHEMA                                             \
  "{\"type\":\"object\",\"properties\":{\"pair\":{\"type\":\"array\"," \
  "\"prefixItems\":[{\"type\":\"string\"}]}}}"
#include "tiny.h"
