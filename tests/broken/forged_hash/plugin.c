/* Its symbol hash table then claims four thousand million buckets; the dynamic linker believes
 * that. */
#include "tiny.h"
