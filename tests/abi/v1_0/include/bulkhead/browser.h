/* bulkhead/browser.h - browser drivers: one function, a list of actions. */
#ifndef BH_BROWSER_H
#define BH_BROWSER_H

#include "plugin.h"

BH_BEGIN_DECLS

#define BH_BROWSER "bh.browser/1"

/* Required: all but get_extension. */
typedef struct bh_browser {
  uint32_t struct_size;
  uint32_t abi_minor;
  const char *session_schema;
  /* A session: cookies, storage and tabs of its own. Ends with the process. [any]
   * [blocking] */
  bh_status (*start)(void *self, bh_call *call, const char *id, size_t id_len,
                     const char *options, size_t options_len, void **out);
  /* Cannot fail. [last] [blocking] */
  void (*stop)(void *session);
  /* One action from abi/browser-actions.md ("navigate", "click", "snapshot"...). Keeps
   * order within a tab; one tab never waits for another. [any] [blocking] */
  bh_status (*act)(void *session, bh_call *call, const char *action, size_t action_len,
                   const char *args, size_t args_len, const bh_blob *const *blobs,
                   size_t blob_count);
  const void *(*get_extension)(const char *interface_id); /* [any] */
} bh_browser;

BH_END_DECLS
#endif /* BH_BROWSER_H */
