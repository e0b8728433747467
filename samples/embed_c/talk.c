#include "talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void talk_die(const char *why) {
  fprintf(stderr, "embed_c: %s\n", why);
  exit(1);
}

void talk_die_of(const bh_fault *f) {
  size_t size = 0;
  const char *text = bh_fault_message(f, &size);
  fprintf(stderr, "embed_c: %.*s\n", (int)size, text != NULL ? text : "");
  exit(1);
}

static void reason_of(const bh_fault *f, char *out, size_t room) {
  char details[4096];
  size_t size = 0;
  const char *text = bh_fault_details(f, &size);
  snprintf(details, sizeof(details), "%.*s", (int)size, text != NULL ? text : "");
  json_text(details, "reason", out, room);
}

void talk_print_fault(const char *what, const bh_fault *f) {
  char reason[64];
  reason_of(f, reason, sizeof(reason));
  printf("%s: %d %s\n", what, (int)bh_fault_code(f), reason);
}

void talk_open(talk *t, const char *config, const char *session) {
  bh_fault *f = NULL;
  memset(t, 0, sizeof(*t));
  if (bh_runtime_new(config, strlen(config), &t->runtime, &f) != BH_OK ||
      bh_session_new(t->runtime, session, strlen(session), &t->session, &f) != BH_OK ||
      bh_queue_new(t->runtime, &t->queue, &f) != BH_OK)
    talk_die_of(f);
}

void talk_close(talk *t) {
  bh_fault *f = NULL;
  bh_queue_free(t->queue);
  bh_session_free(t->session);
  if (bh_runtime_close(t->runtime, 5000, &f) != BH_OK) talk_die_of(f);
  bh_runtime_free(t->runtime);
}

bh_run *talk_start(talk *t, const char *operation, const char *args, int with_input) {
  bh_request *request = NULL;
  bh_run *run = NULL;
  bh_fault *f = NULL;
  if (bh_request_new(operation, strlen(operation), &request, &f) != BH_OK ||
      bh_request_args(request, args, strlen(args), &f) != BH_OK ||
      (with_input && bh_request_input(request, &f) != BH_OK) ||
      bh_start(t->session, request, t->queue, 1, &run, &f) != BH_OK)
    talk_die_of(f);
  bh_request_free(request);
  return run;
}

bh_run *talk_exec(talk *t, const char *argv, int with_input) {
  char args[1024];
  snprintf(args, sizeof(args), "{\"sandbox\":\"%s\",\"argv\":%s}", t->sandbox, argv);
  return talk_start(t, "sandbox.exec", args, with_input);
}

bh_event *talk_next(talk *t) {
  bh_event *e = NULL;
  bh_fault *f = NULL;
  if (bh_queue_next(t->queue, 60000, &e, &f) != BH_OK) talk_die_of(f);
  if (e == NULL) talk_die("nothing happened for a minute");
  return e;
}

reply talk_try(talk *t, const char *operation, const char *args) {
  reply r;
  bh_run *run = talk_start(t, operation, args, 0);
  memset(&r, 0, sizeof(r));
  while (r.result == NULL && !r.failed) {
    bh_event *e = talk_next(t);
    size_t size = 0;
    const char *data = bh_event_data(e, &size);
    switch (bh_event_kind(e)) {
      case BH_EVENT_ITEM: {
        char name[128];
        char *item = calloc(1, size + 1);
        if (item == NULL) talk_die("no memory");
        memcpy(item, data, size);
        json_text(item, "name", name, sizeof(name));
        if (strcmp(name, "command_run") == 0) r.saw_command_run = 1;
        free(item);
        r.items++;
        break;
      }
      case BH_EVENT_RESULT:
        r.result = calloc(1, size + 1);
        if (r.result == NULL) talk_die("no memory");
        memcpy(r.result, data, size);
        break;
      case BH_EVENT_FAULT:
        r.failed = 1;
        r.code = bh_fault_code(bh_event_fault(e));
        reason_of(bh_event_fault(e), r.reason, sizeof(r.reason));
        break;
      default: /* output and progress that this call has no use for */
        break;
    }
    bh_event_free(e);
  }
  bh_run_free(run);
  return r;
}

reply talk_call(talk *t, const char *operation, const char *args) {
  reply r = talk_try(t, operation, args);
  if (r.failed) {
    fprintf(stderr, "embed_c: %s failed: code %d, %s\n", operation, (int)r.code, r.reason);
    exit(1);
  }
  return r;
}

void reply_free(reply *r) {
  free(r->result);
  r->result = NULL;
}

static const char *value_of(const char *json, const char *key) {
  char quoted[64];
  const char *at;
  snprintf(quoted, sizeof(quoted), "\"%s\":", key);
  at = strstr(json, quoted);
  return at != NULL ? at + strlen(quoted) : "";
}

void json_text(const char *json, const char *key, char *out, size_t room) {
  const char *at = value_of(json, key);
  size_t len = 0;
  if (*at++ == '"')
    while (*at != '\0' && *at != '"' && len < room - 1) out[len++] = *at++;
  out[len] = '\0';
}

long json_number(const char *json, const char *key) { return strtol(value_of(json, key), NULL, 10); }

void json_quote(const char *text, char *out, size_t room) {
  size_t len = 0;
  out[len++] = '"';
  for (; *text != '\0' && len < room - 4; text++) {
    if (*text == '"' || *text == '\\') out[len++] = '\\';
    out[len++] = *text;
  }
  out[len++] = '"';
  out[len] = '\0';
}
