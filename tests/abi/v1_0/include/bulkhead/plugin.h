/* bulkhead/plugin.h - what a plugin author includes. See bulkhead/base.h for conventions.
 *
 * A plugin leaves the process and the calling thread as it found them: signals and mask,
 * cwd, umask, environment, namespaces, credentials, seccomp, stdio, rlimits. Its fds are
 * CLOEXEC. Host threads have all signals blocked (reset the mask in a child) and may end
 * between calls (no PR_SET_PDEATHSIG child from them, nothing kept in thread-locals).
 * Their stacks are 1 MiB or more. It reaps its own children by pid or pidfd, never others'.
 *
 * The host copies each table, reads of it what struct_size covers and its own header knows,
 * and answers BH_UNIMPLEMENTED for an optional function that is short or NULL. A required one
 * that is missing has the plugin refused, by the function's name.
 *
 * Beside the library lies plugin.json (abi/schemas/plugin_manifest.json): listing plugins
 * runs none of their code, and what it says must agree with the tables.
 * Kinds: bulkhead/isolation.h, browser.h, filestore.h, toolset.h. */
#ifndef BH_PLUGIN_H
#define BH_PLUGIN_H

#include "base.h"

#define BH_ABI_MAJOR 1 /* also in the entry symbol's name */
#define BH_ABI_MINOR 0 /* +1 for each append-only change  */

/* Several plugins linked statically each define their own name for the entry. */
#ifndef BH_PLUGIN_ENTRY
#define BH_PLUGIN_ENTRY bh_plugin_entry_v1
#endif

BH_BEGIN_DECLS

/* --------------------------------------------------- what the host hands a plugin */

#define BH_LOG_TRACE 0
#define BH_LOG_DEBUG 1
#define BH_LOG_INFO  2
#define BH_LOG_WARN  3
#define BH_LOG_ERROR 4
#define BH_LOG_HOST_MISUSE   5 /* the host broke this header's rules   */
#define BH_LOG_PLUGIN_MISUSE 6 /* the plugin broke this header's rules */

/* A host, as this plugin sees it. More than one may live in a process: reach it from the
 * call or the object at hand, not from a global. Valid until shutdown() returns. */
typedef struct bh_host {
  const struct bh_host_api *api;
} bh_host; /* frozen */

/* One call into the plugin. Valid until that function returns: join your threads first. */
typedef struct bh_call {
  const struct bh_call_api *api;
  const bh_host *host; /* may be kept */
} bh_call; /* frozen */

typedef struct bh_host_api {
  uint32_t struct_size;
  uint32_t abi_minor;
  /* Cheap level test, then the record. `call` tells whose work it was, or NULL; `fields`
   * is a JSON object or empty. Nothing goes to stdout or stderr: those are the
   * embedder's. [any] */
  uint8_t (*log_on)(const bh_host *host, int32_t level);
  void (*log)(const bh_host *host, const bh_call *call, int32_t level, const char *msg,
              size_t msg_len, const char *fields, size_t fields_len);
  /* Outside any call: something changed, ask again. {"changed":"tools"}, {"changed":
   * "sandbox","id":"..."}. A hint, may be merged with others; never waits. [any] */
  void (*notify)(const bh_host *host, const char *json, size_t json_len);
  /* Optional table by ID, or NULL. Same answer every time. [any] */
  const void *(*get_service)(const bh_host *host, const char *service_id);
} bh_host_api;

/* Bytes that travel beside JSON. */
typedef struct bh_blob {
  uint32_t struct_size;
  uint32_t reserved;
  bh_str name;
  bh_str media_type;
  const void *data;
  size_t size;
} bh_blob;

typedef struct bh_call_api {
  uint32_t struct_size;
  uint32_t abi_minor;

  /* Answers. Where one does not say BH_OK: take no more output, clean up, return that. */

  /* Records the error and returns `code`. The last record counts; it is dropped when the
   * function returns BH_OK. `details`: JSON object or empty; its "reason" is a stable
   * word from abi/errors.md. [any] */
  bh_status (*fail)(bh_call *call, bh_status code, const char *msg, size_t msg_len,
                    const char *details, size_t details_len);
  /* The final JSON value, at most once and of 8 MiB at most. If the function then fails, it
   * becomes the fault's "partial": what was done before. [any] */
  bh_status (*result)(bh_call *call, const char *json, size_t json_len);
  /* One element of a list or a watch, kept in order. [any] [blocking] */
  bh_status (*item)(bh_call *call, const char *json, size_t json_len);
  /* Output as it appears; waits when the reader is slow. Never fails because of an output
   * cap: the host keeps head and tail and counts. Chunks may split a character; order is
   * kept per thread. [any] [blocking] */
  bh_status (*emit)(bh_call *call, int32_t stream, const void *data, size_t size);
  /* A whole binary result (screenshot); waits when the reader is slow. Above 64 MiB it reaches
   * the embedder in pieces. It is read once, from front to back: a mapped file will do, and
   * what is never in memory as a whole goes through emit(). [any] [blocking] */
  bh_status (*attach)(bh_call *call, const bh_blob *blob);
  /* Progress, as JSON; may be dropped under load. [any] */
  void (*event)(bh_call *call, const char *json, size_t json_len);

  /* Input while the call runs (stdin, an upload), in order. */

  /* Waits for the next bytes. *got == 0: the input has ended. [serial] [blocking] */
  bh_status (*receive)(bh_call *call, void *buffer, size_t size, size_t *got);
  /* Readable when receive() would not wait. [any] */
  bh_fd (*receive_fd)(bh_call *call);
  /* Nobody will read the rest (the command closed its stdin): the sender is told. [any] */
  void (*end_input)(bh_call *call);

  /* Clock and cancel. A plugin returns within 2 s of the first code below. */

  /* Sleeps for `timeout_ns` (0: just asks), less when there is a reason to stop:
   * BH_CANCELLED or BH_DEADLINE_EXCEEDED. [any] [blocking] */
  bh_status (*wait)(bh_call *call, int64_t timeout_ns);
  /* Readable once wait() would not say BH_OK; belongs in every poll set. [any] */
  bh_fd (*cancel_fd)(bh_call *call);
  /* INT64_MAX: no limit. It may grow (the clock stops while people decide): ask again
   * after each wait, never store a deadline made from it. [any] */
  int64_t (*time_left_ns)(bh_call *call);

  /* Table by ID that belongs to this call, or NULL where this plugin may not have it.
   * Toolsets get BH_OPERATIONS. Drivers (isolation, browser, file store) never do, so no
   * lock that a driver holds can be waited for from below it. [any] */
  const void *(*get_service)(bh_call *call, const char *service_id);
} bh_call_api;

/* ------------------------------------------------------ the plugin: plugin -> host */

/* Required: all, but that shutdown may be NULL. Each text is one line of 256 bytes at most. */
typedef struct bh_plugin {
  uint32_t struct_size;
  uint32_t abi_minor;
  const char *id;      /* reverse DNS, e.g. "org.example.bubblewrap" */
  const char *name;
  const char *version;
  const char *vendor;
  const char *license; /* SPDX */

  /* Kind ("bh.isolation/1") -> bh_provider_list; NULL for what it does not know. Same
   * answer every time. [any] */
  const void *(*get_interface)(const char *interface_id);
  /* Once per successful entry, with everything closed. No thread of the plugin may use
   * that host after it. The library itself stays mapped. [last] [blocking] */
  void (*shutdown)(const bh_host *host);
} bh_plugin;

/* The one exported function. Cheap: no threads, children, sockets or files. Returns a static
 * table, or NULL after call->api->fail(). A second host in the process calls it again and
 * gets the same table. It tests with BH_HAS() for the functions of call->api that it cannot do
 * without. [any] */
BH_EXPORT const bh_plugin *BH_PLUGIN_ENTRY(bh_call *call);

/* ------------------------------------------------------------- common to all kinds */

/* How the operator wants one provider to run. Callers' wishes are never in here. */
typedef struct bh_opening {
  uint32_t struct_size;
  uint32_t reserved;
  bh_str config;    /* JSON, satisfies config_schema: sockets, credentials, folders */
  bh_str instance;  /* the operator's name for it: "docker-eu" */
  bh_str owner;     /* [a-z0-9-]{1,40}: marks what outlives a process; same after a restart */
  bh_str state_dir; /* private folder, kept; two processes of one owner may share it */
} bh_opening;

/* Required: the four texts and table. */
typedef struct bh_provider {
  uint32_t struct_size;
  uint32_t abi_minor;
  const char *id;            /* [a-z0-9][a-z0-9_-]{0,62}, unique within kind: "bubblewrap" */
  const char *title;
  const char *config_schema; /* JSON Schema of bh_opening.config; unlisted keys are refused */
  const char *capabilities;  /* JSON object: abi/schemas/capabilities.*.json */
  /* Can it work here, now? BH_OK with the facts as result(), or BH_UNAVAILABLE or
   * BH_FAILED_PRECONDITION with a message to act on. Touches nothing. May be NULL: always.
   * [any] [blocking] */
  bh_status (*probe)(bh_call *call, const bh_opening *how);
  /* open and close may both be NULL where nothing is kept: `self` is then NULL. [any]
   * [blocking] */
  bh_status (*open)(bh_call *call, const bh_opening *how, void **out);
  /* Cannot fail. Threads, helpers and connections end; what was made through it (a
   * sandbox) stays for the next one who opens it. [last] [blocking] */
  void (*close)(void *self);
  const void *table; /* bh_isolation, bh_browser, bh_filestore or bh_toolset, by kind */
} bh_provider;

typedef struct bh_provider_list {
  uint32_t struct_size;
  uint32_t count;
  const bh_provider *const *items; /* pointers, so that entries may grow */
} bh_provider_list;

BH_END_DECLS
#endif /* BH_PLUGIN_H */
