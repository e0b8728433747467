/* old_embedder DATA_ROOT FOLDER: an embedder as it was written for 1.0, on today's library. It drives
 * the plugins in FOLDER, which were built for 1.0 too: an old plugin on a new host. */
#include <bulkhead/host.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed;
static int checks;
#define CHECK(condition)                                                \
  do {                                                                  \
    ++checks;                                                           \
    if (!(condition)) {                                                 \
      ++failed;                                                         \
      printf("FAILED line %d: %s\n", __LINE__, #condition);             \
      fflush(stdout);                                                   \
    }                                                                   \
  } while (0)

static bh_session *session;
static bh_queue *queue;

/* What one run gave, as text. */
static struct outcome {
  bh_status code;
  char last[65536]; /* the result, or the fault's message and details */
  char items[65536];
  char output[65536];
  size_t attachments;
} got;

static void add(char *to, size_t room, const void *data, size_t size) {
  size_t used = strlen(to);
  if (data == NULL || size > room - 1 - used) size = data == NULL ? 0 : room - 1 - used;
  if (size != 0) memcpy(to + used, data, size);
  to[used + size] = '\0';
}

static void tell(const char *what, bh_fault *fault) {
  size_t len = 0;
  const char *text = bh_fault_message(fault, &len);
  printf("  %s: code %d, %.*s\n", what, (int)bh_fault_code(fault), (int)len, text != NULL ? text : "");
  bh_fault_free(fault);
}

/* One event into `got`. 1: it was the last of its run. */
static int take(bh_event *event) {
  size_t size = 0;
  const void *data = bh_event_data(event, &size);
  const bh_fault *fault;
  switch (bh_event_kind(event)) {
    case BH_EVENT_OUTPUT: add(got.output, sizeof got.output, data, size); return 0;
    case BH_EVENT_ITEM:
      add(got.items, sizeof got.items, data, size);
      add(got.items, sizeof got.items, "\n", 1);
      return 0;
    case BH_EVENT_ATTACHMENT: got.attachments += size; return 0;
    case BH_EVENT_RESULT: got.code = BH_OK; add(got.last, sizeof got.last, data, size); return 1;
    case BH_EVENT_FAULT:
      fault = bh_event_fault(event);
      got.code = bh_fault_code(fault);
      data = bh_fault_message(fault, &size);
      add(got.last, sizeof got.last, data, size);
      data = bh_fault_details(fault, &size);
      add(got.last, sizeof got.last, data, size);
      return 1;
    default: return 0;
  }
}

static void gather(void) {
  for (;;) {
    bh_event *event = NULL;
    bh_fault *fault = NULL;
    int ended;
    if (bh_queue_next(queue, 60000, &event, &fault) != BH_OK || event == NULL) {
      CHECK(!"an event within a minute");
      if (fault != NULL) tell("queue", fault);
      return;
    }
    ended = take(event);
    bh_event_free(event);
    if (ended) return;
  }
}

static bh_run *begin(const char *operation, const char *args, int with_input) {
  bh_request *request = NULL;
  bh_run *run = NULL;
  bh_fault *fault = NULL;
  memset(&got, 0, sizeof got);
  got.code = -1;
  if (bh_request_new(operation, strlen(operation), &request, &fault) != BH_OK ||
      bh_request_args(request, args, strlen(args), &fault) != BH_OK ||
      (with_input && bh_request_input(request, &fault) != BH_OK) ||
      bh_start(session, request, queue, 7, &run, &fault) != BH_OK) {
    CHECK(!"the run starts");
    if (fault != NULL) tell(operation, fault);
  }
  bh_request_free(request);
  return run;
}

static void call(const char *operation, const char *args) {
  bh_run *run = begin(operation, args, 0);
  if (run != NULL) gather();
  bh_run_free(run);
}

static int has(const char *text, const char *part) { return strstr(text, part) != NULL; }
#define TOOL(name) "{\"name\":\"" name "\",\"arguments\":{\"a\":1}}"

static void plugins_are_found(void) {
  call("plugin.list", "{}");
  CHECK(got.code == BH_OK);
  CHECK(has(got.last, "org.example.old_toolset") && has(got.last, "org.example.edge_exact"));
  CHECK(has(got.last, "org.example.edge_short") && has(got.last, "org.example.edge_long"));
  call("tool.list", "{}");
  CHECK(got.code == BH_OK && has(got.items, "\"old_echo\"") && has(got.items, "\"old_nested\""));
  CHECK(has(got.items, "\"edge_exact\"") && has(got.items, "\"edge_short\""));
  CHECK(has(got.items, "\"edge_long\"") && !has(got.items, "\"edge_lacking\""));
  /* Now its library has been looked at. */
  call("plugin.list", "{\"probe\":true}");
  CHECK(has(got.last, "call is NULL") || has(got.last, "before call"));
}

static void tools_of_that_time_work(void) {
  call("tool.call", TOOL("old_echo"));
  CHECK(got.code == BH_OK && has(got.last, "\"structured\":{\"a\":1}"));
  CHECK(strcmp(got.output, "{\"a\":1}") == 0);
  call("tool.call", TOOL("old_fail"));
  CHECK(got.code == BH_DATA_LOSS && has(got.last, "it is all gone") && has(got.last, "old_reason"));
  call("tool.call", TOOL("old_partial"));
  CHECK(got.code == BH_ABORTED && has(got.last, "old_middle") && has(got.last, "partial"));
  call("tool.call", TOOL("old_attach"));
  CHECK(got.code == BH_OK && got.attachments == 4 && has(got.last, "\"dot\""));
  call("tool.call", TOOL("old_nested"));
  CHECK(got.code == BH_OK && has(got.last, "\"structured\":{") && has(got.last, "version"));
  call("tool.call", TOOL("old_not_needed"));
  CHECK(got.code == BH_PERMISSION_DENIED && has(got.last, "not_needed"));
  call("tool.call", TOOL("old_nothing"));
  CHECK(got.code == BH_NOT_FOUND && has(got.last, "unknown_tool"));
}

static void tables_of_any_length_work(void) {
  call("tool.call", TOOL("edge_exact"));
  CHECK(got.code == BH_OK && has(got.last, "edge_exact ran"));
  call("tool.call", TOOL("edge_short"));
  CHECK(got.code == BH_OK && has(got.last, "edge_short ran"));
  call("tool.call", TOOL("edge_long"));
  CHECK(got.code == BH_OK && has(got.last, "edge_long ran"));
  call("tool.call", TOOL("edge_lacking"));
  CHECK(got.code == BH_NOT_FOUND);
}

static void input_arrives(void) {
  bh_run *run = begin("tool.call", TOOL("old_input"), 1);
  size_t taken = 0;
  bh_fault *fault = NULL;
  if (run == NULL) return;
  CHECK(bh_run_send(run, "over there", 10, &taken, &fault) == BH_OK && taken == 10);
  CHECK(bh_run_send_end(run, &fault) == BH_OK);
  gather();
  CHECK(got.code == BH_OK && strcmp(got.output, "over there") == 0);
  bh_run_free(run);
}

static void cancel_arrives(void) {
  bh_run *run = begin("tool.call", TOOL("old_wait"), 0);
  if (run == NULL) return;
  bh_run_cancel(run);
  gather();
  CHECK(got.code == BH_CANCELLED);
  bh_run_free(run);
}

static void do_is_the_same(void) {
  static const char operation[] = "tool.call", args[] = TOOL("old_echo");
  bh_request *request = NULL;
  bh_fault *fault = NULL;
  memset(&got, 0, sizeof got);
  CHECK(bh_request_new(operation, sizeof operation - 1, &request, &fault) == BH_OK);
  CHECK(bh_request_args(request, args, sizeof args - 1, &fault) == BH_OK);
  CHECK(bh_do(session, request, queue, 8, &fault) == BH_OK);
  gather();
  CHECK(got.code == BH_OK && has(got.last, "\"structured\":{\"a\":1}"));
  bh_request_free(request);
}

int main(int argc, char **argv) {
  static const char persona[] = "{\"persona\":\"default\"}";
  char config[8192];
  bh_runtime *runtime = NULL;
  bh_fault *fault = NULL;
  if (argc != 3) return 2;
  snprintf(config, sizeof config,
           "{\"version\":1,\"data_root\":\"%s\",\"plugins\":{\"path\":[\"%s\"],\"environment\":false,"
           "\"user\":false,\"relative\":false,\"system\":false}}",
           argv[1], argv[2]);
  CHECK(bh_plugin_abi() >> 16 == 1);
  CHECK(bh_version_text() != NULL && bh_version_text()[0] != '\0');
  if (bh_runtime_new(config, strlen(config), &runtime, &fault) != BH_OK ||
      bh_session_new(runtime, persona, sizeof persona - 1, &session, &fault) != BH_OK ||
      bh_queue_new(runtime, &queue, &fault) != BH_OK) {
    tell("FAILED to set up", fault);
    return 1;
  }
  plugins_are_found();
  tools_of_that_time_work();
  tables_of_any_length_work();
  input_arrives();
  cancel_arrives();
  do_is_the_same();
  CHECK(bh_runtime_close(runtime, 10000, &fault) == BH_OK);
  bh_runtime_free(runtime); /* before its children: any order will do */
  bh_session_free(session);
  bh_queue_free(queue);
  printf("old embedder, old plugins: %d checks, %d failed\n", checks, failed);
  return failed != 0;
}
