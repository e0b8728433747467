/* bulkhead/toolset.h - toolsets, and the host's operations that they are made of. */
#ifndef BH_TOOLSET_H
#define BH_TOOLSET_H

#include "plugin.h"

BH_BEGIN_DECLS

#define BH_TOOLSET "bh.toolset/1"

/* Required: all but get_extension. */
typedef struct bh_toolset {
  uint32_t struct_size;
  uint32_t abi_minor;
  /* An item() per tool, in a fixed order: abi/schemas/tool.json. Asked again after
   * notify({"changed":"tools"}).
   *   input_schema    published to clients verbatim
   *   accepts_schema  optional and more lenient (aliases, arguments that arrive as JSON
   *                   text): what the host enforces in place of input_schema
   *   needs           the operations that it calls ("sandbox.exec/1"); run() refuses all
   *                   others, and one that the host lacks keeps the tool from being offered
   * A schema that uses a keyword which the host does not enforce is refused, by name. [any] */
  bh_status (*list)(void *self, bh_call *call);
  /* `args` is an object and satisfies accepts_schema, else input_schema. result():
   * abi/schemas/tool_result.json; bytes beside it as attachments that it names. A tool that
   * ran and failed is BH_OK with "is_error": true, for the model to read; an error code means
   * that it could not run. [any] [blocking] */
  bh_status (*call)(void *self, bh_call *call, const char *tool, size_t tool_len,
                    const char *args, size_t args_len, const bh_blob *const *blobs,
                    size_t blob_count);
  const void *(*get_extension)(const char *interface_id); /* [any] */
} bh_toolset;

/* The host's operations ("sandbox.exec", "files.put"...; host/operations.md). Persona,
 * policy, deadline and cancellation of the outer call hold for the inner one. */
#define BH_OPERATIONS "bh.call.operations/1"

#define BH_RUN_OUTPUT  1u /* emit, item, event and attach also go to the outer call */
#define BH_RUN_INPUT   2u /* the outer call's input is the inner one's */
#define BH_RUN_CLEANUP 4u /* runs although the outer call was stopped, for 2 s at most */

/* Where an operation's answers go. A function may be NULL: then that answer is dropped, but
 * for `flags`. All [serial] [blocking], and not beside each other either: the host calls one
 * at a time, from any thread, until run() returns. Non-OK ends the operation with that code.
 * Input that is known beforehand goes as the blob "input"; without it and without
 * BH_RUN_INPUT there is none. */
typedef struct bh_run_io {
  uint32_t struct_size;
  uint32_t flags;
  uint64_t tag;       /* names it for cancel(); 0: none */
  int64_t timeout_ns; /* 0: only what the outer call has left */
  void *ctx;
  bh_status (*result)(void *ctx, const char *json, size_t json_len);
  bh_status (*item)(void *ctx, const char *json, size_t json_len);
  bh_status (*emit)(void *ctx, int32_t stream, const void *data, size_t size);
  bh_status (*attach)(void *ctx, const bh_blob *blob);
  /* Why run() will not say BH_OK. NULL: recorded in the outer call, so that `return
   * ops->run(...)` reads well. */
  void (*fault)(void *ctx, bh_status code, const char *msg, size_t msg_len,
                const char *details, size_t details_len);
} bh_run_io;

typedef struct bh_operations {
  uint32_t struct_size;
  uint32_t abi_minor;
  /* Runs one operation to its end, on the calling thread: it takes no worker, so nesting
   * cannot starve. Several may run at once from threads of the plugin's own. Nested 16
   * deep: BH_FAILED_PRECONDITION. [any] [blocking] */
  bh_status (*run)(bh_call *call, const char *operation, size_t operation_len,
                   const char *args, size_t args_len, const bh_blob *const *blobs,
                   size_t blob_count, const bh_run_io *io);
  /* Stops this call's runs with that tag. [any] */
  void (*cancel)(bh_call *call, uint64_t tag);
} bh_operations;

BH_END_DECLS
#endif /* BH_TOOLSET_H */
