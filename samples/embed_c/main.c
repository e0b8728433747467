/* What an embedder does with Bulkhead, in C99 over bulkhead/host.h alone: make a sandbox, stream a
 * command, send it input, cancel one, read a fault, list tools, call one, define one, clean up.
 *
 *   embed_c CONFIG WORKSPACE
 *
 * CONFIG is the runtime's configuration, {"version":1} at least; WORKSPACE a folder that commands
 * may write to. The same programme stands beside this one in C++, Python, Rust and Go; all of them
 * print samples/embed_output.txt. */
#include "talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void make_sandbox(talk *t, const char *workspace) {
  char args[4096];
  char place[2048];
  reply r;
  json_quote(workspace, place, sizeof(place));
  snprintf(args, sizeof(args), "{\"workspace\":%s}", place);
  r = talk_call(t, "sandbox.create", args);
  json_text(r.result, "sandbox", t->sandbox, sizeof(t->sandbox));
  json_text(r.result, "state", place, sizeof(place));
  printf("sandbox: %s\n", place);
  reply_free(&r);
}

/* Lines are printed as they arrive, so a partial one waits for its end. */
static void stream_a_command(talk *t) {
  char line[256], err[256];
  size_t line_len = 0, err_len = 0, size, i;
  long code;
  bh_event *e;
  bh_run *run = talk_exec(t, "[\"sh\",\"-c\",\"echo one; sleep 0.2; echo two; echo three >&2; exit 3\"]", 0);
  while ((e = talk_next(t)) != NULL) {
    const char *data = bh_event_data(e, &size);
    if (bh_event_kind(e) == BH_EVENT_FAULT) talk_die_of(bh_event_fault(e));
    for (i = 0; bh_event_kind(e) == BH_EVENT_OUTPUT && i < size; i++) {
      if (bh_event_stream(e) == BH_STREAM_STDERR) {
        if (err_len < sizeof(err)) err[err_len++] = data[i];
      } else if (data[i] == '\n') {
        printf("out: %.*s\n", (int)line_len, line);
        line_len = 0;
      } else if (line_len < sizeof(line)) {
        line[line_len++] = data[i];
      }
    }
    if (bh_event_kind(e) == BH_EVENT_RESULT) {
      char result[8192], reason[32];
      snprintf(result, sizeof(result), "%.*s", (int)size, data);
      json_text(result, "reason", reason, sizeof(reason));
      code = json_number(result, "code");
      printf("err: %.*sexit: %s %ld\n", (int)err_len, err, reason, code);
      bh_event_free(e);
      break;
    }
    bh_event_free(e);
  }
  bh_run_free(run);
}

/* The library takes what has room; the rest waits for BH_EVENT_ROOM, and output is read meanwhile. */
static void send_input(talk *t, const char *argv, const char *data, size_t size, char *out, size_t room) {
  size_t sent = 0, taken, len = 0, got;
  int ended = 0, full = 0;
  bh_fault *f = NULL;
  bh_run *run = talk_exec(t, argv, 1);
  for (;;) {
    bh_event *e;
    int kind;
    while (!full && !ended) {
      if (sent < size) {
        if (bh_run_send(run, data + sent, size - sent, &taken, &f) != BH_OK) talk_die_of(f);
        sent += taken;
        full = sent < size;
      } else {
        if (bh_run_send_end(run, &f) != BH_OK) talk_die_of(f);
        ended = 1;
      }
    }
    e = talk_next(t);
    kind = bh_event_kind(e);
    if (kind == BH_EVENT_FAULT) talk_die_of(bh_event_fault(e));
    if (kind == BH_EVENT_ROOM) full = 0;
    if (kind == BH_EVENT_OUTPUT) {
      const char *text = bh_event_data(e, &got);
      if (got > room - 1 - len) got = room - 1 - len;
      memcpy(out + len, text, got);
      len += got;
    }
    bh_event_free(e);
    if (kind == BH_EVENT_RESULT) break;
  }
  out[len] = '\0';
  bh_run_free(run);
}

static void stdin_both_ways(talk *t) {
  static const char kHello[] = "hello from the embedder\n";
  const size_t size = 4u << 20;
  char out[256];
  char *zeros = calloc(1, size);
  if (zeros == NULL) talk_die("no memory");
  send_input(t, "[\"tr\",\"a-z\",\"A-Z\"]", kHello, strlen(kHello), out, sizeof(out));
  printf("stdin: %s", out);
  send_input(t, "[\"wc\",\"-c\"]", zeros, size, out, sizeof(out));
  printf("through: %ld bytes\n", strtol(out, NULL, 10));
  free(zeros);
}

static void cancel_a_command(talk *t) {
  bh_event *e;
  bh_run *run = talk_exec(t, "[\"sleep\",\"60\"]", 0);
  while ((e = talk_next(t)) != NULL) {
    if (bh_event_kind(e) == BH_EVENT_ITEM) bh_run_cancel(run); /* it has begun */
    if (bh_event_kind(e) == BH_EVENT_RESULT) talk_die("sleep ended although it was cancelled");
    if (bh_event_kind(e) == BH_EVENT_FAULT) {
      talk_print_fault("cancelled", bh_event_fault(e));
      bh_event_free(e);
      break;
    }
    bh_event_free(e);
  }
  bh_run_free(run);
}

static void read_a_fault(talk *t) {
  reply r = talk_try(t, "sandbox.exec", "{\"sandbox\":\"nobody-made-this\",\"argv\":[\"true\"]}");
  if (!r.failed) talk_die("a sandbox that nobody made ran a command");
  printf("fault: %d %s\n", (int)r.code, r.reason);
  reply_free(&r);
}

static void tools(talk *t) {
  char args[512], text[256];
  const char *logs;
  reply r = talk_call(t, "tool.list", "{}");
  if (r.items != json_number(r.result, "count")) talk_die("tool.list counted otherwise");
  if (!r.saw_command_run) talk_die("tool.list has no command_run");
  printf("tools: command_run is among them\n");
  reply_free(&r);
  snprintf(args, sizeof(args), "{\"name\":\"sandbox_connect\",\"arguments\":{\"sandbox_id\":\"%s\"}}",
           t->sandbox);
  r = talk_call(t, "tool.call", args);
  reply_free(&r);
  snprintf(args, sizeof(args),
           "{\"name\":\"command_run\",\"arguments\":{\"sandbox_id\":\"%s\",\"command\":\"echo from a tool\"}}",
           t->sandbox);
  r = talk_call(t, "tool.call", args);
  logs = strstr(r.result, "\"structured\":"); /* its .logs.stdout[0].text */
  if (logs != NULL) logs = strstr(logs, "\"stdout\":");
  json_text(logs != NULL ? logs : "", "text", text, sizeof(text));
  printf("tool: %s\n", text);
  reply_free(&r);
}

/* The question arrives on the same queue as everything else; whoever reads it answers. */
static void serve_a_tool(talk *t) {
  static const char kShout[] =
      "{\"tool\":{\"name\":\"shout\",\"description\":\"Says it louder.\",\"input_schema\":{\"type\":"
      "\"object\",\"required\":[\"text\"],\"properties\":{\"text\":{\"type\":\"string\"}}}}}";
  char text[256], answer[512];
  size_t i;
  bh_server *server = NULL;
  bh_fault *f = NULL;
  bh_event *e;
  bh_run *run;
  if (bh_serve(t->session, kShout, strlen(kShout), t->queue, 2, &server, &f) != BH_OK) talk_die_of(f);
  run = talk_start(t, "tool.call", "{\"name\":\"shout\",\"arguments\":{\"text\":\"hello\"}}", 0);
  while ((e = talk_next(t)) != NULL) {
    const int kind = bh_event_kind(e);
    size_t size;
    const char *data = bh_event_data(e, &size);
    if (kind == BH_EVENT_FAULT) talk_die_of(bh_event_fault(e));
    if (kind == BH_EVENT_ASK) {
      bh_ask *ask = bh_event_ask(e);
      snprintf(answer, sizeof(answer), "%.*s", (int)size, data);
      json_text(answer, "text", text, sizeof(text));
      for (i = 0; text[i] != '\0'; i++)
        if (text[i] >= 'a' && text[i] <= 'z') text[i] = (char)(text[i] - 'a' + 'A');
      snprintf(answer, sizeof(answer), "{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}", text);
      if (bh_ask_result(ask, answer, strlen(answer), &f) != BH_OK) talk_die_of(f);
      bh_ask_free(ask);
    }
    if (kind == BH_EVENT_RESULT) {
      snprintf(answer, sizeof(answer), "%.*s", (int)size, data);
      json_text(answer, "text", text, sizeof(text));
      printf("served: %s\n", text);
    }
    bh_event_free(e);
    if (kind == BH_EVENT_RESULT) break;
  }
  bh_run_free(run);
  bh_server_free(server);
}

static void clean_up(talk *t) {
  char args[256];
  reply r;
  snprintf(args, sizeof(args), "{\"sandbox\":\"%s\"}", t->sandbox);
  r = talk_call(t, "sandbox.kill", args);
  reply_free(&r);
  r = talk_call(t, "sandbox.list", "{}");
  printf("left: %d\n", r.items);
  reply_free(&r);
  talk_close(t);
  printf("closed\n");
}

int main(int argc, char **argv) {
  talk t;
  if (argc != 3) {
    fprintf(stderr, "usage: embed_c CONFIG WORKSPACE\n");
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  talk_open(&t, argv[1], "{\"persona\":\"sample\"}");
  make_sandbox(&t, argv[2]);
  stream_a_command(&t);
  stdin_both_ways(&t);
  cancel_a_command(&t);
  read_a_fault(&t);
  tools(&t);
  serve_a_tool(&t);
  clean_up(&t);
  return 0;
}
