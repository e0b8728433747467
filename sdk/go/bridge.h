/* What Go calls in place of a function of host.h where that saves crossings or a copy. */
#ifndef BULKHEAD_GO_BRIDGE_H
#define BULKHEAD_GO_BRIDGE_H

#include <bulkhead/host.h>

typedef struct bhgo_event {
  bh_event *event;
  uint64_t tag;
  uint64_t id;
  int64_t time_ns;
  const char *name;
  size_t name_size;
  const char *type;
  size_t type_size;
  const void *data;
  size_t data_size;
  int32_t kind;
  int32_t stream;
} bhgo_event;

/* One crossing for many events: what is in the queue, up to `room`, with all that can be asked of
 * each. The texts live as long as their event, which is the caller's to free. Waits up to timeout_ms for
 * the first; *found is how many there were. An error after the first waits for the next call, which
 * meets it again where it lasts. */
static inline bh_status bhgo_take(bh_queue *queue, int32_t timeout_ms, bhgo_event *out, int room,
                                  int *found, bh_fault **f) {
  int count = 0;
  bh_status st = BH_OK;
  while (count < room) {
    bh_event *event = NULL;
    bhgo_event *to = &out[count];
    st = bh_queue_next(queue, timeout_ms, &event, count == 0 ? f : NULL);
    if (st != BH_OK || event == NULL) break;
    timeout_ms = 0;
    to->event = event;
    to->kind = bh_event_kind(event);
    to->tag = bh_event_tag(event);
    to->id = bh_event_id(event);
    to->time_ns = bh_event_time_ns(event);
    to->stream = bh_event_stream(event);
    to->name = bh_event_name(event, &to->name_size);
    to->type = bh_event_type(event, &to->type_size);
    to->data = bh_event_data(event, &to->data_size);
    count++;
  }
  *found = count;
  return count == 0 ? st : BH_OK;
}

/* The bytes as char: cgo searches what void points to for pointers of Go's, and would refuse a part
 * of an object that has some elsewhere. */
static inline bh_status bhgo_request_attach(bh_request *r, const char *name, size_t name_size,
                                            const char *type, size_t type_size, const char *data,
                                            size_t size, bh_fault **f) {
  return bh_request_attach(r, name, name_size, type, type_size, data, size, f);
}

static inline bh_status bhgo_run_send(bh_run *run, const char *data, size_t size, size_t *taken,
                                      bh_fault **f) {
  return bh_run_send(run, data, size, taken, f);
}

static inline bh_status bhgo_ask_emit(bh_ask *a, int32_t stream, const char *data, size_t size,
                                      size_t *taken, bh_fault **f) {
  return bh_ask_emit(a, stream, data, size, taken, f);
}

static inline bh_status bhgo_ask_attach(bh_ask *a, const char *name, size_t name_size,
                                        const char *type, size_t type_size, const char *data,
                                        size_t size, bh_fault **f) {
  return bh_ask_attach(a, name, name_size, type, type_size, data, size, f);
}

#endif
