/* bulkhead/base.h - vocabulary shared by the plugin ABI (bulkhead/plugin.h) and the
 * embedding API (bulkhead/host.h).
 *
 * Conventions, for every header in this folder:
 *   Text       UTF-8, pointer + length, not NUL-terminated. NULL with length 0 is the
 *              empty text; nothing else is ever meant by NULL. IDs and descriptor text
 *              are the exception: static, NUL-terminated.
 *   Bytes      argv and paths inside a sandbox: anything but NUL, as the kernel has it.
 *              In JSON, such bytes that are not UTF-8 travel as {"base64": "..."}.
 *   Inputs     Borrowed. Valid until the function returns, not a moment more.
 *   Outputs    Pushed into a sink owned by the other side, which copies. An out
 *              parameter is written on BH_OK only, unless its text says more.
 *   Growth     Structs that may grow start with struct_size; new fields go at the end
 *              and are read only behind BH_HAS(). A new *input* field is sent only to a
 *              table whose abi_minor says that it is read: nothing is dropped unseen.
 *   Unknown    A code, kind, stream or reason that is not listed is "other", never
 *              success. A flag bit that is not listed is refused: BH_UNIMPLEMENTED.
 *   Types      Fixed-width integers, pointers, size_t. No enum, bool, bit-field, union,
 *              long, varargs or struct passed by value.
 *   Unwinding  Nothing may unwind (C++ throw, Rust panic, longjmp) across a call.
 *   Threads    Each function carries one tag:
 *                [any]     any thread, beside everything, on a live object
 *                [serial]  any thread; not beside itself on the same object
 *                [last]    any thread; when no other call on the object runs, and none
 *                          comes after
 *              and, where it may wait for others, [blocking]. A comment, with its tag, stands
 *              for the functions below it up to a blank line or the next comment; "All [..]"
 *              above a table for each of its functions that has no tag of its own.
 * The rules behind these lines: abi/README.md. What each code asks of the caller:
 * abi/errors.md. What changed: abi/CHANGES.md.
 */
#ifndef BH_BASE_H
#define BH_BASE_H

#include <stddef.h>
#include <stdint.h>

#if UINTPTR_MAX != UINT64_MAX
#error "bulkhead: layouts are promised for 64-bit targets only"
#endif

#ifdef __cplusplus
#define BH_BEGIN_DECLS extern "C" {
#define BH_END_DECLS }
#else
#define BH_BEGIN_DECLS
#define BH_END_DECLS
#endif

#if defined(_WIN32)
#define BH_EXPORT __declspec(dllexport)
#else
#define BH_EXPORT __attribute__((visibility("default")))
#endif

/* True when the other side's struct is long enough to hold FIELD. A function that is there
 * may still be NULL: test both. */
#define BH_HAS(p, type, field) \
  ((p)->struct_size >= offsetof(type, field) + sizeof(((type *)0)->field))

BH_BEGIN_DECLS

typedef struct bh_str {
  const char *data;
  size_t size;
} bh_str; /* frozen for ever: two words */

/* Something to wait on: a file descriptor; on Windows a HANDLE. -1: there is none. Only
 * wait for "readable": no read, no close. Level-triggered. */
typedef intptr_t bh_fd;

/* Streams of a run. 16 and above belong to the operation that documents them. */
#define BH_STREAM_STDOUT 1
#define BH_STREAM_STDERR 2
#define BH_STREAM_DATA   3
/* This one and above: the bytes of one attachment each. The host chooses them; nobody emits
 * on them. */
#define BH_STREAM_ATTACHED 0x40000000

/* Canonical codes: what a caller can do about it. Detail goes in the message. */
typedef int32_t bh_status;
#define BH_OK                  0
#define BH_CANCELLED           1  /* the caller asked for it                  */
#define BH_UNKNOWN             2  /* a code of a later header reads as this   */
#define BH_INVALID_ARGUMENT    3  /* never retry unchanged                    */
#define BH_DEADLINE_EXCEEDED   4  /* it may have been done all the same       */
#define BH_NOT_FOUND           5
#define BH_ALREADY_EXISTS      6
#define BH_PERMISSION_DENIED   7  /* policy said no                           */
#define BH_RESOURCE_EXHAUSTED  8  /* quota, disk, threads, a size limit       */
#define BH_FAILED_PRECONDITION 9  /* fix the state first                      */
#define BH_ABORTED            10  /* lost a race; restart the larger step     */
#define BH_OUT_OF_RANGE       11  /* past the end                             */
#define BH_UNIMPLEMENTED      12  /* never by this one; ask another           */
#define BH_INTERNAL           13  /* a bug, including a caught exception      */
#define BH_UNAVAILABLE        14  /* retry with back-off                      */
#define BH_DATA_LOSS          15  /* what was kept is damaged or gone         */
#define BH_UNAUTHENTICATED    16  /* credentials missing or wrong             */

BH_END_DECLS
#endif /* BH_BASE_H */
