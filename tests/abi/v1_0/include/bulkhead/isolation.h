/* bulkhead/isolation.h - isolation backends: makes sandboxes and runs commands in them.
 * Optional tables: bulkhead/isolation_*.h. */
#ifndef BH_ISOLATION_H
#define BH_ISOLATION_H

#include "plugin.h"

BH_BEGIN_DECLS

#define BH_ISOLATION "bh.isolation/1"

#define BH_EXEC_INPUT 1u /* stdin comes through receive(); without it stdin is empty */

typedef struct bh_exec {
  uint32_t struct_size;
  uint32_t flags;
  bh_str id; /* the host's, never used twice in a sandbox; for signal() and extensions */
  const bh_str *argv;
  size_t argc;
  bh_str options; /* JSON, satisfies exec_schema: cwd, env, user, limits, tty */
} bh_exec;

#define BH_EXIT_UNKNOWN 0
#define BH_EXIT_CODE    1
#define BH_EXIT_SIGNAL  2
#define BH_EXIT_MEMORY  3 /* a limit of the profile or the options; so the next two */
#define BH_EXIT_TIME    4
#define BH_EXIT_OUTPUT  5
#define BH_EXIT_POLICY  6 /* killed for a forbidden act */
#define BH_EXIT_STOPPED 7 /* by signal(), destroy(), cancel or deadline */
#define BH_EXIT_LOST    8 /* the sandbox ended under it */

#define BH_EXITED_OUTPUT_OPEN 1u /* something still held the pipe when draining ended */
#define BH_EXITED_LEFTOVERS   2u /* it left processes; they were killed */

/* The host sets struct_size and every default; the plugin fills what it knows, field by
 * field (never `*out = mine`: a later bh_exit is longer than an older host's), also when
 * it returns BH_CANCELLED or BH_DEADLINE_EXCEEDED. */
typedef struct bh_exit {
  uint32_t struct_size;
  int32_t reason;
  int32_t exit_code; /* -1: none */
  int32_t signal;    /* Linux's number on every platform; 0: none */
  uint32_t flags;
  uint32_t reserved;
  int64_t wall_ns;
  int64_t cpu_ns;     /* -1 unknown */
  int64_t peak_bytes; /* -1 unknown */
} bh_exit;

/* The host names sandboxes: [a-z0-9-]{1,63}, never used twice, recorded before create().
 * Profile: abi/schemas/isolation_profile.json, or the part of it that profile_schema lists.
 * Report: result() of plan, create, find and update, abi/schemas/enforcement.json. A rule
 * that it does not mention counts as unsupported; no report, no sandbox. What
 * profile_schema does not list, the host takes out and reports as unsupported itself.
 * Required: both schemas, create, destroy, release, exec. The others may be NULL. */
typedef struct bh_isolation {
  uint32_t struct_size;
  uint32_t abi_minor;
  const char *profile_schema;
  const char *exec_schema; /* the host refuses options that it does not list */

  /* On the opened provider. */

  /* The report that create() would give; no line of that is weaker. Makes nothing; so the
   * host can choose among backends. [any] [blocking] */
  bh_status (*plan)(void *self, bh_call *call, const char *profile, size_t profile_len);
  /* After a failure the host calls destroy(id). [any] [blocking] */
  bh_status (*create)(void *self, bh_call *call, const char *id, size_t id_len,
                      const char *profile, size_t profile_len, void **out);
  /* A handle on one that exists: after a restart, or from a second process. BH_NOT_FOUND:
   * it is gone, and nothing of it is left. [any] [blocking] */
  bh_status (*find)(void *self, bh_call *call, const char *id, size_t id_len, void **out);
  /* An item() {"id","state"} for each of this owner's, half-made ones too. [any] [blocking] */
  bh_status (*list)(void *self, bh_call *call);
  /* Ends all inside; leaves no process, mount or file. Needs no handle and may come beside
   * any call: running ones end as BH_EXIT_STOPPED. Absent: BH_OK. Anything else: it may be
   * there still, the host tries again. [any] [blocking] */
  bh_status (*destroy)(void *self, bh_call *call, const char *id, size_t id_len);

  /* On a sandbox's handle; all are released before close(). */

  /* Forgets the handle; the sandbox goes on. Cannot fail. [last] */
  void (*release)(void *sandbox);
  /* result(): state, usage, processes; abi/schemas/sandbox_state.json. [any] [blocking] */
  bh_status (*inspect)(void *sandbox, bh_call *call);
  /* Runs one command to its end; output through emit(). A non-zero exit is BH_OK: an error
   * means that it did not run, or that its fate is unknown. Cancel and deadline kill this
   * command's processes, not the sandbox. result(): optional, "denials" and "usage".
   * [any] [blocking] */
  bh_status (*exec)(void *sandbox, bh_call *call, const bh_exec *what, bh_exit *out);
  /* Linux's signal number, to all processes of a command or, with an empty id, to all in
   * the sandbox. BH_NOT_FOUND: it has ended. [any] [blocking] */
  bh_status (*signal)(void *sandbox, bh_call *call, const char *exec_id, size_t exec_id_len,
                      int32_t signal);
  /* Optional tables: bulkhead/isolation_*.h. The same for every sandbox; what cannot be
   * done on this one answers BH_UNIMPLEMENTED. [any] */
  const void *(*get_extension)(const char *interface_id);
} bh_isolation;

BH_END_DECLS
#endif /* BH_ISOLATION_H */
