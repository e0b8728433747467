#include "member.h"

#include <string.h>

/* A place in the text. Since the text is valid JSON, only its end needs care. */
typedef struct cursor {
  const char *at;
  const char *end;
} cursor;

static void skip_space(cursor *c) {
  while (c->at < c->end && strchr(" \t\r\n", *c->at) != NULL) c->at++;
}

static void skip_string(cursor *c) {
  c->at++; /* the opening quote */
  while (c->at < c->end && *c->at != '"') {
    if (*c->at == '\\') c->at++;
    if (c->at < c->end) c->at++;
  }
  if (c->at < c->end) c->at++;
}

/* To the end of the value: nested ones are counted through, not looked at. */
static void skip_value(cursor *c) {
  int depth = 0;
  while (c->at < c->end) {
    const char ch = *c->at;
    if (ch == '"') {
      skip_string(c);
      if (depth == 0) return;
      continue;
    }
    if (depth == 0 && strchr(",}] \t\r\n", ch) != NULL) return;
    if (ch == '{' || ch == '[') depth++;
    if (ch == '}' || ch == ']') depth--;
    c->at++;
    if (depth == 0 && (ch == '}' || ch == ']')) return;
  }
}

bh_str json_member(const char *json, size_t size, const char *name) {
  const bh_str none = {NULL, 0};
  const size_t name_size = strlen(name);
  cursor c;
  if (size == 0) return none;
  c.at = json;
  c.end = json + size;
  skip_space(&c);
  if (c.at < c.end && *c.at == '{') c.at++;
  for (;;) {
    const char *key;
    size_t key_size;
    bh_str value;
    skip_space(&c);
    if (c.at >= c.end || *c.at != '"') return none;
    key = c.at + 1;
    skip_string(&c);
    key_size = (size_t)(c.at - key) - 1;
    skip_space(&c);
    if (c.at < c.end) c.at++; /* the colon */
    skip_space(&c);
    value.data = c.at;
    skip_value(&c);
    value.size = (size_t)(c.at - value.data);
    if (key_size == name_size && memcmp(key, name, name_size) == 0) return value;
    skip_space(&c);
    if (c.at < c.end) c.at++; /* the comma, or the end */
  }
}
