/* A toolset as its author wrote it for 1.0: plain C99, built against the frozen headers only. Each
 * tool goes through another part of the border. */
#include <bulkhead/toolset.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "\"input_schema\":{\"type\":\"object\"}"
#define TOOL(name, more) "{\"name\":\"" name "\",\"description\":\"Of 1.0.\"," SCHEMA more "}"

static const char *const tools[] = {
    TOOL("old_echo", ""),
    TOOL("old_fail", ""),
    TOOL("old_partial", ""),
    TOOL("old_wait", ""),
    TOOL("old_input", ""),
    TOOL("old_attach", ""),
    TOOL("old_nested", ",\"needs\":[\"host.inspect/1\"]"),
    TOOL("old_not_needed", ""),
};

static bh_status list(void *self, bh_call *call) {
  size_t i;
  (void)self;
  for (i = 0; i < sizeof tools / sizeof *tools; ++i) {
    bh_status st = call->api->item(call, tools[i], strlen(tools[i]));
    if (st != BH_OK) return st;
  }
  return BH_OK;
}

static bh_status fail(bh_call *call, bh_status code, const char *text, const char *details) {
  return call->api->fail(call, code, text, strlen(text), details, strlen(details));
}

/* {"content":[],"structured":JSON} */
static bh_status structured(bh_call *call, const char *json, size_t size) {
  static const char head[] = "{\"content\":[],\"structured\":";
  char *text = malloc(sizeof head + size + 1);
  bh_status st;
  if (text == NULL) return fail(call, BH_RESOURCE_EXHAUSTED, "no memory", "");
  memcpy(text, head, sizeof head - 1);
  memcpy(text + sizeof head - 1, json, size);
  text[sizeof head - 1 + size] = '}';
  st = call->api->result(call, text, sizeof head + size);
  free(text);
  return st;
}

static bh_status echo(bh_call *call, const char *args, size_t size) {
  static const char note[] = "an old plugin speaks";
  bh_status st;
  if (call->host->api->log_on(call->host, BH_LOG_INFO)) {
    call->host->api->log(call->host, call, BH_LOG_INFO, note, sizeof note - 1, "", 0);
  }
  call->api->event(call, "{\"message\":\"halfway\"}", 21);
  st = call->api->emit(call, BH_STREAM_STDOUT, args, size);
  return st == BH_OK ? structured(call, args, size) : st;
}

static bh_status partial(bh_call *call) {
  bh_status st = structured(call, "1", 1);
  if (st != BH_OK) return st;
  return fail(call, BH_ABORTED, "stopped in the middle", "{\"reason\":\"old_middle\"}");
}

static bh_status wait_for_cancel(bh_call *call) {
  if (call->api->cancel_fd(call) < 0) return fail(call, BH_INTERNAL, "no cancel fd", "");
  for (;;) {
    bh_status st;
    if (call->api->time_left_ns(call) < 0) return fail(call, BH_INTERNAL, "negative time", "");
    st = call->api->wait(call, 1000000000);
    if (st != BH_OK) return fail(call, st, "the old plugin was told to stop", "");
  }
}

static bh_status input(bh_call *call) {
  char buffer[4096];
  for (;;) {
    size_t got = 0;
    bh_status st = call->api->receive(call, buffer, sizeof buffer, &got);
    if (st != BH_OK) return st;
    if (got == 0) return structured(call, "true", 4);
    st = call->api->emit(call, BH_STREAM_DATA, buffer, got);
    if (st != BH_OK) return st;
  }
}

static bh_status attach(bh_call *call) {
  static const char result[] =
      "{\"content\":[{\"type\":\"attachment\",\"attachment\":\"dot\"}]}";
  bh_blob blob = {sizeof(bh_blob), 0, {"dot", 3}, {"image/x-dot", 11}, "\0\1\2\3", 4};
  bh_status st = call->api->attach(call, &blob);
  return st == BH_OK ? call->api->result(call, result, sizeof result - 1) : st;
}

static bh_status take(void *ctx, const char *json, size_t size) {
  return structured((bh_call *)ctx, json, size);
}

static bh_status nested(bh_call *call) {
  const bh_operations *operations = call->api->get_service(call, BH_OPERATIONS);
  bh_run_io io;
  if (operations == NULL || !BH_HAS(operations, bh_operations, run)) {
    return fail(call, BH_UNIMPLEMENTED, "this host gives no operations", "");
  }
  memset(&io, 0, sizeof io);
  io.struct_size = sizeof io;
  io.ctx = call;
  io.result = take;
  return operations->run(call, "host.inspect/1", 14, "{}", 2, NULL, 0, &io);
}

static bh_status run(void *self, bh_call *call, const char *tool, size_t tool_len, const char *args,
                     size_t args_len, const bh_blob *const *blobs, size_t blob_count) {
#define IS(name) (tool_len == sizeof name - 1 && memcmp(tool, name, tool_len) == 0)
  (void)self, (void)blobs, (void)blob_count;
  if (IS("old_echo")) return echo(call, args, args_len);
  if (IS("old_fail")) {
    return fail(call, BH_DATA_LOSS, "it is all gone", "{\"reason\":\"old_reason\"}");
  }
  if (IS("old_partial")) return partial(call);
  if (IS("old_wait")) return wait_for_cancel(call);
  if (IS("old_input")) return input(call);
  if (IS("old_attach")) return attach(call);
  if (IS("old_nested") || IS("old_not_needed")) return nested(call);
  return fail(call, BH_NOT_FOUND, "no such tool", "{\"reason\":\"unknown_tool\"}");
}

static const void *no_extension(const char *id) { return (void)id, (const void *)NULL; }

static const bh_toolset toolset = {sizeof(bh_toolset), BH_ABI_MINOR, list, run, no_extension};
static const bh_provider provider = {sizeof(bh_provider), BH_ABI_MINOR, "old", "Old tools",
                                     "{\"type\":\"object\",\"additionalProperties\":false}", "{}",
                                     NULL, NULL, NULL, &toolset};
static const bh_provider *const providers[] = {&provider};
static const bh_provider_list provided = {sizeof(bh_provider_list), 1, providers};

static const void *get_interface(const char *id) {
  return strcmp(id, BH_TOOLSET) == 0 ? &provided : NULL;
}

static void leave(const bh_host *host) { (void)host; }

static const bh_plugin plugin = {sizeof(bh_plugin), BH_ABI_MINOR, "org.example.old_toolset",
                                 "Old toolset", "1.0.0", "Example", "Apache-2.0", get_interface,
                                 leave};

/* The last functions of each host table that the tools rely on: all before them are there too. */
const bh_plugin *BH_PLUGIN_ENTRY(bh_call *call) {
  static const char text[] = "this host is older than the functions that the plugin needs";
  if (!BH_HAS(call->api, bh_call_api, get_service) ||
      !BH_HAS(call->host->api, bh_host_api, log)) {
    call->api->fail(call, BH_UNIMPLEMENTED, text, sizeof text - 1, "", 0);
    return NULL;
  }
  return &plugin;
}
