/* bulkhead/file_info.h - what a file is, in a store or inside a sandbox. */
#ifndef BH_FILE_INFO_H
#define BH_FILE_INFO_H

#include "plugin.h"

BH_BEGIN_DECLS

#define BH_FILE_OTHER     0
#define BH_FILE_REGULAR   1
#define BH_FILE_DIRECTORY 2
#define BH_FILE_SYMLINK   3
typedef struct bh_file_info {
  uint32_t struct_size;
  int32_t kind;
  bh_str name; /* relative to what was listed; empty for stat() */
  int64_t size;
  int64_t modified_ns; /* Unix time */
  int64_t created_ns;  /* -1 unknown */
  bh_str etag;         /* this and the next are empty where there is none */
  bh_str media_type;
  bh_str target; /* of a symlink */
  bh_str owner;
  bh_str group;
  uint32_t mode; /* permission bits */
  uint32_t reserved;
} bh_file_info;

/* Called during the function that got it, one at a time. Non-OK: stop, return that.
 * [serial] [blocking] */
typedef bh_status (*bh_file_fn)(void *ctx, const bh_file_info *info);

BH_END_DECLS
#endif /* BH_FILE_INFO_H */
