/* bulkhead/host.h - what an embedder includes (C, ctypes, Rust, Go). No struct here has
 * visible fields, no function is varargs, no error is thread-local, and the library never
 * calls into the embedder: all that happens is pulled from a queue. Conventions, codes and
 * thread tags: bulkhead/base.h. A function that is not tagged [blocking] never waits.
 *
 * Handles are counted inside: a child keeps what it needs of its parent, so they may be
 * freed in any order; no _free ever waits, each accepts NULL. Text and bytes that a function
 * returns live as long as the object they were asked of. `f` may be NULL; it is set exactly
 * when the code is not BH_OK. NULL or garbage where an object or text is due is
 * BH_INVALID_ARGUMENT, from a function without a code 0 or NULL.
 *
 * JSON that is given here is an object; keys that are not listed are refused by name. After
 * fork() without exec() what the parent made answers BH_FAILED_PRECONDITION in the child, and
 * _free only forgets. The library sets no signal handler and writes nothing to stdio. */
#ifndef BH_HOST_H
#define BH_HOST_H

#include <bulkhead/base.h>

#if defined(BH_STATIC)
#define BH_API
#elif defined(_WIN32) && defined(BH_BUILDING)
#define BH_API __declspec(dllexport)
#elif defined(_WIN32)
#define BH_API __declspec(dllimport)
#else
#define BH_API __attribute__((visibility("default")))
#endif

#define BH_HOST_VERSION 0x000100 /* of this header; bh_version() is the library's */

/* Nothing is thrown out of the library: errors are codes. */
#if defined(__cplusplus)
#define BH_NOEXCEPT noexcept
#else
#define BH_NOEXCEPT
#endif

BH_BEGIN_DECLS

typedef struct bh_runtime bh_runtime; /* plugins, configuration                */
typedef struct bh_session bh_session; /* one persona's view of it              */
typedef struct bh_queue bh_queue;     /* where everything that happens arrives */
typedef struct bh_request bh_request; /* built up, then started, also again    */
typedef struct bh_run bh_run;         /* one operation in progress             */
typedef struct bh_event bh_event;     /* one thing that happened               */
typedef struct bh_server bh_server;   /* the embedder answers something        */
typedef struct bh_ask bh_ask;         /* one question that it has to answer    */
typedef struct bh_fault bh_fault;     /* why something failed                  */

/* Of the library. [any] */
BH_API uint32_t bh_version(void) BH_NOEXCEPT;         /* major<<16 | minor<<8 | patch */
BH_API const char *bh_version_text(void) BH_NOEXCEPT; /* NUL-terminated               */
BH_API uint32_t bh_plugin_abi(void) BH_NOEXCEPT;      /* major<<16 | minor            */

/* details: a JSON object, or empty; its "reason" is a stable word from abi/errors.md. [any] */
BH_API bh_status bh_fault_code(const bh_fault *f) BH_NOEXCEPT;
BH_API const char *bh_fault_message(const bh_fault *f, size_t *len) BH_NOEXCEPT;
BH_API const char *bh_fault_details(const bh_fault *f, size_t *len) BH_NOEXCEPT;
/* [last] */
BH_API void bh_fault_free(bh_fault *f) BH_NOEXCEPT;

/* Reads the plugins' manifests. config: {"version":1} and what differs from the defaults:
 * data_root, config_dir, plugins, isolation, toolsets, defaults, workers, log. [any]
 * [blocking] */
BH_API bh_status bh_runtime_new(const char *config, size_t config_len, bh_runtime **out,
                                bh_fault **f) BH_NOEXCEPT;
/* Stops all runs, closes the plugins. BH_DEADLINE_EXCEEDED: one is stuck. [any] [blocking] */
BH_API bh_status bh_runtime_close(bh_runtime *rt, int32_t timeout_ms, bh_fault **f) BH_NOEXCEPT;
/* [last] */
BH_API void bh_runtime_free(bh_runtime *rt) BH_NOEXCEPT;

/* {"persona":NAME}, NAME of [a-z0-9-]{1,40}; or {"operator":true}: sees logs, audit and all
 * personas. [any] */
BH_API bh_status bh_session_new(bh_runtime *rt, const char *config, size_t config_len,
                                bh_session **out, bh_fault **f) BH_NOEXCEPT;
/* [last] */
BH_API void bh_session_free(bh_session *s) BH_NOEXCEPT;

/* One for a call, or one for a whole server. [any] */
BH_API bh_status bh_queue_new(bh_runtime *rt, bh_queue **out, bh_fault **f) BH_NOEXCEPT;
/* The next event; those of one run keep their order. Nothing within timeout_ms (< 0: no
 * limit), or woken: BH_OK and *out NULL. After the runtime was closed, once all was taken:
 * BH_FAILED_PRECONDITION. [any] [blocking] */
BH_API bh_status bh_queue_next(bh_queue *q, int32_t timeout_ms, bh_event **out, bh_fault **f)
    BH_NOEXCEPT;
/* Readable when next() would not wait. [any] */
BH_API bh_fd bh_queue_fd(bh_queue *q) BH_NOEXCEPT;
/* Ends one next(), the current or the coming one. [any] */
BH_API void bh_queue_wake(bh_queue *q) BH_NOEXCEPT;
/* Cancels what reports to it. [last] */
BH_API void bh_queue_free(bh_queue *q) BH_NOEXCEPT;

/* `operation`: host/operations.md, e.g. "tool.call", "sandbox.exec", "log.follow", with or
 * without its major ("sandbox.exec/1"). [any] */
BH_API bh_status bh_request_new(const char *operation, size_t operation_len, bh_request **out,
                                bh_fault **f) BH_NOEXCEPT;
/* Arguments are checked once, however often it is started; later calls replace. [serial] */
BH_API bh_status bh_request_args(bh_request *r, const char *json, size_t json_len, bh_fault **f)
    BH_NOEXCEPT;
/* Bytes beside the arguments, copied: 64 MiB at most, what is larger is sent as input. [serial] */
BH_API bh_status bh_request_attach(bh_request *r, const char *name, size_t name_len,
                                   const char *type, size_t type_len, const void *data,
                                   size_t size, bh_fault **f) BH_NOEXCEPT;
/* 0: none but the operation's own. [serial] */
BH_API bh_status bh_request_timeout(bh_request *r, int64_t timeout_ms, bh_fault **f) BH_NOEXCEPT;
/* Bytes will be sent; without it the run's input is empty. [serial] */
BH_API bh_status bh_request_input(bh_request *r, bh_fault **f) BH_NOEXCEPT;
/* [last] */
BH_API void bh_request_free(bh_request *r) BH_NOEXCEPT;

/* Its events carry `tag` and arrive on `q`. [any] */
BH_API bh_status bh_start(bh_session *s, const bh_request *r, bh_queue *q, uint64_t tag,
                          bh_run **out, bh_fault **f) BH_NOEXCEPT;
/* The same on the calling thread, for short calls: back when it has ended, its events in `q`
 * (bounded by the output cap alone). Asks for `q` meanwhile fail. [any] [blocking] */
BH_API bh_status bh_do(bh_session *s, const bh_request *r, bh_queue *q, uint64_t tag,
                       bh_fault **f) BH_NOEXCEPT;
/* Takes what fits; after less than all, BH_EVENT_ROOM says when more would. BH_OUT_OF_RANGE:
 * nobody reads any more. [serial] */
BH_API bh_status bh_run_send(bh_run *run, const void *data, size_t size, size_t *taken,
                             bh_fault **f) BH_NOEXCEPT;
BH_API bh_status bh_run_send_end(bh_run *run, bh_fault **f) BH_NOEXCEPT;
/* It ends with BH_EVENT_FAULT, BH_CANCELLED, unless it has ended. [any] */
BH_API void bh_run_cancel(bh_run *run) BH_NOEXCEPT;
/* One that has not ended is cancelled. [last] */
BH_API void bh_run_free(bh_run *run) BH_NOEXCEPT;

/* An attachment above 64 MiB comes without data, with a stream of BH_STREAM_ATTACHED or more:
 * its bytes follow as BH_EVENT_OUTPUT of that stream, and one without bytes ends it. */
#define BH_EVENT_OUTPUT     1 /* bytes of a stream                    */
#define BH_EVENT_PROGRESS   2 /* JSON; may be dropped                 */
#define BH_EVENT_ATTACHMENT 3 /* bytes with a name and a type         */
#define BH_EVENT_RESULT     4 /* JSON; last, on success               */
#define BH_EVENT_FAULT      5 /* last, on failure                     */
#define BH_EVENT_ITEM       6 /* JSON; one element of a list or watch */
#define BH_EVENT_ROOM       7 /* bh_run_send, bh_ask_emit, bh_ask_attach can go on */
#define BH_EVENT_ASK        8 /* JSON arguments; name says of what    */
#define BH_EVENT_ASK_ENDED  9 /* too late to answer; id says which    */
/* tag: of bh_start, bh_do or bh_serve; id: of the ask, else 0; time: Unix time; type: media
 * type; data: bytes or JSON; fault: the event's own, not to be freed. [any] */
BH_API int32_t bh_event_kind(const bh_event *e) BH_NOEXCEPT;
BH_API uint64_t bh_event_tag(const bh_event *e) BH_NOEXCEPT;
BH_API uint64_t bh_event_id(const bh_event *e) BH_NOEXCEPT;
BH_API int64_t bh_event_time_ns(const bh_event *e) BH_NOEXCEPT;
BH_API int32_t bh_event_stream(const bh_event *e) BH_NOEXCEPT;
BH_API const char *bh_event_name(const bh_event *e, size_t *len) BH_NOEXCEPT;
BH_API const char *bh_event_type(const bh_event *e, size_t *len) BH_NOEXCEPT;
BH_API const void *bh_event_data(const bh_event *e, size_t *size) BH_NOEXCEPT;
BH_API const bh_fault *bh_event_fault(const bh_event *e) BH_NOEXCEPT;
/* Given to the caller, once; then NULL. [serial] */
BH_API bh_ask *bh_event_ask(bh_event *e) BH_NOEXCEPT;
/* Gives its room back: a run with 1 MiB of events not freed waits; others go on. [last] */
BH_API void bh_event_free(bh_event *e) BH_NOEXCEPT;

/* From now on the embedder answers: {"tool":{...}} (abi/schemas/tool.json) defines one,
 * {"answers":"approval"} or "policy.judge" takes the host's questions; for this session's
 * persona or, from an operator's session, for all. {"tool":{...},"attachments":true}: callers'
 * attachments come before their ask, as BH_EVENT_ATTACHMENT with its id; without it, calls that
 * bring some are refused. [any] */
BH_API bh_status bh_serve(bh_session *s, const char *what, size_t what_len, bh_queue *q,
                          uint64_t tag, bh_server **out, bh_fault **f) BH_NOEXCEPT;
/* Its open asks fail: BH_UNAVAILABLE. [last] */
BH_API void bh_server_free(bh_server *v) BH_NOEXCEPT;

/* [any] */
BH_API uint64_t bh_ask_id(const bh_ask *a) BH_NOEXCEPT;
/* As bh_run_send: takes what fits. [serial] */
BH_API bh_status bh_ask_emit(bh_ask *a, int32_t stream, const void *data, size_t size,
                             size_t *taken, bh_fault **f) BH_NOEXCEPT;
/* Bytes that the result names, whole or not at all: BH_RESOURCE_EXHAUSTED (ask_full) means again
 * after BH_EVENT_ROOM. 64 MiB at most; what is larger is emitted. [serial] */
BH_API bh_status bh_ask_attach(bh_ask *a, const char *name, size_t name_len, const char *type,
                               size_t type_len, const void *data, size_t size, bh_fault **f)
    BH_NOEXCEPT;
/* The first of result and fail counts. After BH_EVENT_ASK_ENDED: BH_OUT_OF_RANGE. [any] */
BH_API bh_status bh_ask_result(bh_ask *a, const char *json, size_t json_len, bh_fault **f)
    BH_NOEXCEPT;
BH_API bh_status bh_ask_fail(bh_ask *a, bh_status code, const char *msg, size_t msg_len,
                             const char *details, size_t details_len, bh_fault **f) BH_NOEXCEPT;
/* A session with the asker's rights, deadline and cancellation, and no more. [any] */
BH_API bh_status bh_ask_session(bh_ask *a, bh_session **out, bh_fault **f) BH_NOEXCEPT;
/* Unanswered: BH_UNAVAILABLE. [last] */
BH_API void bh_ask_free(bh_ask *a) BH_NOEXCEPT;

BH_END_DECLS
#endif /* BH_HOST_H */
