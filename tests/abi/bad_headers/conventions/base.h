/* bulkhead/base.h - vocabulary, without the conventions that everything else relies on. */
#ifndef BH_BASE_H
#define BH_BASE_H

#include <stddef.h>
#include <stdint.h>

typedef struct bh_str {
  const char *data;
  size_t size;
} bh_str;
typedef int32_t bh_status;

#endif /* BH_BASE_H */
/* lint: conventions-first */
