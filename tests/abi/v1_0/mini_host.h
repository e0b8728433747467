/* A host as it was in 1.0, as small as one can be: loads a plugin, copies its tables, makes one call
 * at a time and keeps what comes of it. Built against the frozen headers only. */
#ifndef MINI_HOST_H
#define MINI_HOST_H

#include <bulkhead/filestore.h>
#include <bulkhead/isolation.h>
#include <bulkhead/toolset.h>

/* What one call into a plugin gave. */
typedef struct mini_call {
  bh_call base; /* first: the plugin sees this */
  bh_status code;
  int records; /* fail() was called so often */
  size_t items;
  char text[512];     /* of the last fail() */
  char all[65536];    /* items, a line each */
  char output[65536]; /* of all streams */
  size_t all_size;
  size_t output_size;
  char result[65536];
  const char *input; /* what receive() gives, all at once */
  size_t input_size;
  int cancelled;
} mini_call;

/* Tables of the host as a plugin gets them. Tests replace them by shorter and longer ones. */
typedef struct mini_host {
  const bh_call_api *call_api;
  const bh_operations *operations;
  bh_host host;
} mini_host;

typedef struct mini_plugin {
  bh_plugin table;
  void *library;
} mini_plugin;

void mini_host_init(mini_host *host);
extern const bh_call_api mini_call_api;
extern const bh_host_api mini_host_api;
extern const bh_operations mini_operations;

/* A fresh call on `host`. One at a time: the services find the host by it. */
void mini_begin(mini_host *host, mini_call *call);

/* 0: loaded. Else -1 and why in call->text. `symbol` NULL: this major's entry. */
int mini_load(mini_host *host, mini_call *call, const char *path, mini_plugin *out);
/* The list of a kind; NULL: none. */
const bh_provider_list *mini_providers(const mini_plugin *plugin, const char *kind);
/* Full-size copies, with what is absent filled in. */
bh_provider mini_provider(const bh_provider *from);
bh_toolset mini_toolset(const bh_provider *provider);
bh_isolation mini_isolation(const bh_provider *provider);
bh_filestore mini_filestore(const bh_provider *provider);

#endif
