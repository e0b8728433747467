/* Tables at the edge of what may be read: the byte behind them belongs to a page without access. */
#ifndef GUARD_H
#define GUARD_H

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A copy of `table` (of `known` bytes) whose struct_size is `size`: cut short, or longer and filled
 * with 0xA5 behind what is known. Never freed. NULL: no memory. */
static const void *at_guard(const void *table, size_t known, size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t room = (size + page - 1) / page * page;
  uint32_t struct_size = (uint32_t)size;
  char *map = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char *at;
  if (map == MAP_FAILED || mprotect(map + room, page, PROT_NONE) != 0) return NULL;
  at = map + room - size;
  memset(at, 0xA5, size);
  memcpy(at, table, size < known ? size : known);
  memcpy(at, &struct_size, sizeof struct_size);
  return at;
}

#endif
