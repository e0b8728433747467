/* Starts a runtime, runs one operation on this thread and prints its result. */
#include <bulkhead/host.h>
#include <stdio.h>
#include <string.h>

static int failed(const char *what, const bh_fault *f) {
  size_t size = 0;
  const char *text = bh_fault_message(f, &size);
  fprintf(stderr, "%s: %.*s\n", what, (int)size, text != NULL ? text : "");
  return 1;
}

int main(void) {
  static const char kConfig[] = "{\"version\":1}";
  static const char kSession[] = "{\"persona\":\"default\"}";
  static const char kOperation[] = "host.inspect";
  bh_runtime *runtime = NULL;
  bh_session *session = NULL;
  bh_queue *queue = NULL;
  bh_request *request = NULL;
  bh_event *event = NULL;
  bh_fault *f = NULL;
  int done = 0;

  if (bh_version() != BH_HOST_VERSION) return fprintf(stderr, "another version\n"), 1;
  if (bh_runtime_new(kConfig, strlen(kConfig), &runtime, &f) != BH_OK) return failed("runtime", f);
  if (bh_session_new(runtime, kSession, strlen(kSession), &session, &f) != BH_OK) {
    return failed("session", f);
  }
  if (bh_queue_new(runtime, &queue, &f) != BH_OK) return failed("queue", f);
  if (bh_request_new(kOperation, strlen(kOperation), &request, &f) != BH_OK) {
    return failed("request", f);
  }
  if (bh_do(session, request, queue, 1, &f) != BH_OK) return failed("host.inspect", f);
  while (bh_queue_next(queue, 0, &event, &f) == BH_OK && event != NULL) {
    if (bh_event_kind(event) == BH_EVENT_RESULT) {
      size_t size = 0;
      const void *data = bh_event_data(event, &size);
      printf("%s %.*s\n", bh_version_text(), (int)size, (const char *)data);
      done = 1;
    }
    bh_event_free(event);
  }
  bh_request_free(request);
  bh_queue_free(queue);
  bh_session_free(session);
  if (bh_runtime_close(runtime, 5000, &f) != BH_OK) return failed("close", f);
  bh_runtime_free(runtime);
  return done ? 0 : 1;
}
