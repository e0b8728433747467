#include "mini_host.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static mini_call *mine(bh_call *call) { return (mini_call *)call; }
static mini_host *current;

static void keep(char *to, size_t room, size_t *used, const void *data, size_t size) {
  if (size > room - 1 - *used) size = room - 1 - *used;
  if (size != 0) memcpy(to + *used, data, size);
  *used += size;
  to[*used] = '\0';
}

/* ---- what a plugin may call */

static uint8_t log_on(const bh_host *host, int32_t level) { return (void)host, level >= BH_LOG_WARN; }
static void log_line(const bh_host *host, const bh_call *call, int32_t level, const char *msg,
                     size_t msg_len, const char *fields, size_t fields_len) {
  (void)host, (void)call, (void)level, (void)msg, (void)msg_len, (void)fields, (void)fields_len;
}
static void notify(const bh_host *host, const char *json, size_t len) {
  (void)host, (void)json, (void)len;
}
static const void *host_service(const bh_host *host, const char *id) {
  return (void)host, (void)id, (const void *)NULL;
}

const bh_host_api mini_host_api = {sizeof(bh_host_api), BH_ABI_MINOR, log_on, log_line, notify,
                                   host_service};

static bh_status fail(bh_call *call, bh_status code, const char *msg, size_t msg_len,
                      const char *details, size_t details_len) {
  size_t used = 0;
  (void)details, (void)details_len;
  mine(call)->code = code;
  mine(call)->records++;
  keep(mine(call)->text, sizeof mine(call)->text, &used, msg, msg_len);
  return code;
}
static bh_status result(bh_call *call, const char *json, size_t len) {
  size_t used = 0;
  keep(mine(call)->result, sizeof mine(call)->result, &used, json, len);
  return BH_OK;
}
static bh_status item(bh_call *call, const char *json, size_t len) {
  mini_call *me = mine(call);
  me->items++;
  keep(me->all, sizeof me->all, &me->all_size, json, len);
  keep(me->all, sizeof me->all, &me->all_size, "\n", 1);
  return BH_OK;
}
static bh_status emit(bh_call *call, int32_t stream, const void *data, size_t size) {
  mini_call *me = mine(call);
  (void)stream;
  keep(me->output, sizeof me->output, &me->output_size, data, size);
  return me->cancelled ? BH_CANCELLED : BH_OK;
}
static bh_status attach(bh_call *call, const bh_blob *blob) {
  return emit(call, BH_STREAM_DATA, blob->data, blob->size);
}
static void event(bh_call *call, const char *json, size_t len) { (void)call, (void)json, (void)len; }
static bh_status receive(bh_call *call, void *buffer, size_t size, size_t *got) {
  mini_call *me = mine(call);
  *got = size < me->input_size ? size : me->input_size;
  if (*got != 0) memcpy(buffer, me->input, *got);
  me->input += *got;
  me->input_size -= *got;
  return BH_OK;
}
static bh_fd no_fd(bh_call *call) { return (void)call, (bh_fd)-1; }
static void end_input(bh_call *call) { mine(call)->input_size = 0; }
static bh_status wait_a_while(bh_call *call, int64_t timeout_ns) {
  (void)timeout_ns;
  return mine(call)->cancelled ? BH_CANCELLED : BH_OK;
}
static int64_t time_left(bh_call *call) { return (void)call, (int64_t)60000000000; }
static const void *call_service(bh_call *call, const char *id) {
  (void)call;
  return strcmp(id, BH_OPERATIONS) == 0 ? current->operations : NULL;
}

const bh_call_api mini_call_api = {
    sizeof(bh_call_api), BH_ABI_MINOR, fail,  result, item,         emit,      attach,      event,
    receive,             no_fd,        end_input,     wait_a_while, no_fd,     time_left,   call_service};

/* Knows one operation; all others are told to whom it concerns. */
static bh_status run(bh_call *call, const char *operation, size_t operation_len, const char *args,
                     size_t args_len, const bh_blob *const *blobs, size_t blob_count,
                     const bh_run_io *io) {
  static const char text[] = "this host knows host.inspect alone";
  static const char answer[] = "{\"version\":\"mini\"}";
  (void)args, (void)args_len, (void)blobs, (void)blob_count;
  if (operation_len >= 12 && memcmp(operation, "host.inspect", 12) == 0) {
    return io->result != NULL ? io->result(io->ctx, answer, sizeof answer - 1) : BH_OK;
  }
  if (io->fault != NULL) {
    io->fault(io->ctx, BH_NOT_FOUND, text, sizeof text - 1, "", 0);
    return BH_NOT_FOUND;
  }
  return fail(call, BH_NOT_FOUND, text, sizeof text - 1, "", 0);
}
static void cancel(bh_call *call, uint64_t tag) { (void)call, (void)tag; }

const bh_operations mini_operations = {sizeof(bh_operations), BH_ABI_MINOR, run, cancel};

void mini_host_init(mini_host *host) {
  host->call_api = &mini_call_api;
  host->operations = &mini_operations;
  host->host.api = &mini_host_api;
}

void mini_begin(mini_host *host, mini_call *call) {
  memset(call, 0, sizeof *call);
  call->base.api = host->call_api;
  call->base.host = &host->host;
  current = host;
}

/* ---- what it calls: tables copied at full size, the rest of them filled in */

static void copy_table(void *to, size_t room, const void *from) {
  uint32_t size;
  memcpy(&size, from, sizeof size);
  memset(to, 0, room);
  memcpy(to, from, size < room ? size : room);
}

static const void *no_extension(const char *id) { return (void)id, (const void *)NULL; }
static void no_shutdown(const bh_host *host) { (void)host; }
static bh_status always(bh_call *call, const bh_opening *how) {
  return (void)call, (void)how, BH_OK;
}
static bh_status open_nothing(bh_call *call, const bh_opening *how, void **out) {
  (void)call, (void)how;
  *out = NULL;
  return BH_OK;
}
static void close_nothing(void *self) { (void)self; }

static int refuse(mini_call *call, const char *what) {
  snprintf(call->text, sizeof call->text, "%s", what);
  return -1;
}

int mini_load(mini_host *host, mini_call *call, const char *path, mini_plugin *out) {
  const bh_plugin *(*entry)(bh_call *);
  const bh_plugin *table;
  void *symbol;
  mini_begin(host, call);
  out->library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (out->library == NULL) return refuse(call, dlerror());
  symbol = dlsym(out->library, "bh_plugin_entry_v1");
  if (symbol == NULL) return refuse(call, "it exports no bh_plugin_entry_v1");
  memcpy(&entry, &symbol, sizeof entry);
  table = entry(&call->base);
  if (table == NULL) return call->records != 0 ? -1 : refuse(call, "NULL without a reason");
  if (entry(&call->base) != table) return refuse(call, "the second entry gives another table");
  copy_table(&out->table, sizeof out->table, table);
  if (out->table.id == NULL || out->table.get_interface == NULL) {
    return refuse(call, "id or get_interface is missing");
  }
  if (out->table.shutdown == NULL) out->table.shutdown = no_shutdown;
  return 0;
}

const bh_provider_list *mini_providers(const mini_plugin *plugin, const char *kind) {
  return plugin->table.get_interface(kind);
}

bh_provider mini_provider(const bh_provider *from) {
  bh_provider copy;
  copy_table(&copy, sizeof copy, from);
  if (copy.probe == NULL) copy.probe = always;
  if (copy.open == NULL) copy.open = open_nothing;
  if (copy.close == NULL) copy.close = close_nothing;
  return copy;
}

bh_toolset mini_toolset(const bh_provider *provider) {
  bh_toolset copy;
  copy_table(&copy, sizeof copy, provider->table);
  if (copy.get_extension == NULL) copy.get_extension = no_extension;
  return copy;
}

bh_isolation mini_isolation(const bh_provider *provider) {
  bh_isolation copy;
  copy_table(&copy, sizeof copy, provider->table);
  if (copy.get_extension == NULL) copy.get_extension = no_extension;
  return copy;
}

bh_filestore mini_filestore(const bh_provider *provider) {
  bh_filestore copy;
  copy_table(&copy, sizeof copy, provider->table);
  if (copy.get_extension == NULL) copy.get_extension = no_extension;
  return copy;
}
