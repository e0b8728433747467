/* What every call of this sample does alike: start it, pull its events, stop the program with a
 * sentence where it fails. The JSON here is the least that the sample needs; a program of its own
 * would use a library. Not thread-safe. */
#ifndef SAMPLE_TALK_H
#define SAMPLE_TALK_H

#include <bulkhead/host.h>

typedef struct talk {
  bh_runtime *runtime;
  bh_session *session;
  bh_queue *queue;
  char sandbox[128]; /* the one that the sample made */
} talk;

/* What a call ended with. */
typedef struct reply {
  char *result; /* JSON, owned; NULL after a fault */
  int items;    /* how many there were             */
  int saw_command_run;
  int failed;
  bh_status code;
  char reason[64];
} reply;

void talk_die(const char *why);
void talk_die_of(const bh_fault *f);
void talk_print_fault(const char *what, const bh_fault *f);
void talk_open(talk *t, const char *config, const char *session);
void talk_close(talk *t);

/* with_input: bytes will be sent. The run is the caller's to free. */
bh_run *talk_start(talk *t, const char *operation, const char *args, int with_input);
bh_run *talk_exec(talk *t, const char *argv, int with_input); /* in the sample's sandbox */
bh_event *talk_next(talk *t);                                 /* the caller's to free; waits */

reply talk_try(talk *t, const char *operation, const char *args);
reply talk_call(talk *t, const char *operation, const char *args); /* a fault ends the program */
void reply_free(reply *r);

/* The first member of that name, at whatever depth: text without escapes, or a whole number. */
void json_text(const char *json, const char *key, char *out, size_t room);
long json_number(const char *json, const char *key);
void json_quote(const char *text, char *out, size_t room);

#endif
