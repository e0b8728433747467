/* echo.c - a whole toolset in C99. Two tools: `echo` gives its text back; `upper` turns its input
 * to upper case as it comes, however long it is.
 *
 * Read it from the bottom: the one exported function gives the plugin's table, that gives the list
 * of providers, a provider gives the table of its kind. Everything is constant; there is no state,
 * so the provider needs no open() and no close(), and any number of threads may call at once. */
#include <bulkhead/toolset.h>
#include <string.h>

#include "member.h"

/* Text that is known when the plugin is built, as the pointer and length that the ABI wants. */
#define TEXT(literal) (literal), (sizeof(literal) - 1)

/* ------------------------------------------------------------------ the tools as the host lists
 * them */

/* input_schema is what a model reads, so it is strict and short. accepts_schema is what the host
 * enforces in its place: models also send numbers, and `message` for `text`. */
static const char kEcho[] =
    "{\"name\":\"echo\","
    "\"title\":\"Echo\","
    "\"description\":\"Gives the text back.\","
    "\"input_schema\":{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"text\"],"
    "\"properties\":{\"text\":{\"type\":\"string\",\"description\":\"What to say.\"}}},"
    "\"accepts_schema\":{\"type\":\"object\",\"additionalProperties\":false,"
    "\"minProperties\":1,\"maxProperties\":1,\"properties\":{"
    "\"text\":{\"type\":[\"string\",\"number\",\"boolean\"]},"
    "\"message\":{\"type\":[\"string\",\"number\",\"boolean\"]}}},"
    "\"output_schema\":{\"type\":\"object\",\"required\":[\"text\"],"
    "\"properties\":{\"text\":{\"type\":\"string\"}}},"
    "\"annotations\":{\"read_only\":true,\"idempotent\":true,\"open_world\":false}}";

static const char kUpper[] =
    "{\"name\":\"upper\","
    "\"title\":\"Upper case\","
    "\"description\":\"Gives its input back in upper case (a to z), as it comes.\","
    "\"input_schema\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{}},"
    "\"output_schema\":{\"type\":\"object\",\"required\":[\"bytes\"],"
    "\"properties\":{\"bytes\":{\"type\":\"integer\"}}},"
    "\"annotations\":{\"read_only\":true,\"idempotent\":true,\"open_world\":false}}";

static bh_status toolset_list(void *self, bh_call *call) {
  bh_status st;
  (void)self;
  st = call->api->item(call, TEXT(kEcho));
  if (st != BH_OK) return st; /* nobody wants the rest */
  return call->api->item(call, TEXT(kUpper));
}

/* ------------------------------------------------------------------ what they do */

/* Appends to a buffer that has been made large enough. */
static char *put(char *at, const char *data, size_t size) {
  memcpy(at, data, size);
  return at + size;
}

static bh_status run_echo(bh_call *call, const char *args, size_t args_size) {
  static const char kBefore[] = "{\"content\":[{\"type\":\"text\",\"text\":";
  static const char kBetween[] = "}],\"structured\":{\"text\":";
  char result[65536];
  char *at = result;
  int quoted;
  int i;

  bh_str text = json_member(args, args_size, "text");
  if (text.size == 0) text = json_member(args, args_size, "message");
  if (text.size == 0 || text.size > 30000) {
    return call->api->fail(call, BH_INVALID_ARGUMENT,
                           TEXT("text is missing or longer than 30,000 bytes; send less"),
                           TEXT("{\"reason\":\"too_large\",\"field\":\"/text\"}"));
  }
  /* A JSON string came in and goes out as it is, escapes and all; a number or a boolean becomes
   * one. */
  quoted = text.data[0] == '"';
  at = put(at, TEXT(kBefore));
  for (i = 0; i < 2; i++) {
    if (i == 1) at = put(at, TEXT(kBetween));
    if (!quoted) *at++ = '"';
    at = put(at, text.data, text.size);
    if (!quoted) *at++ = '"';
  }
  at = put(at, TEXT("}}"));
  return call->api->result(call, result, (size_t)(at - result));
}

/* A decimal number; returns its length. `out` holds 20 digits. */
static size_t print_number(uint64_t n, char *out) {
  char digits[20];
  size_t count = 0;
  size_t i;
  do {
    digits[count++] = (char)('0' + n % 10);
    n /= 10;
  } while (n != 0);
  for (i = 0; i < count; i++) out[i] = digits[count - 1 - i];
  return count;
}

/* The pattern for streams of any length: one buffer, receive() until it gives nothing, emit() which
 * waits while the reader is slow. Whatever is not BH_OK (cancelled, out of time) is handed on. */
static bh_status run_upper(bh_call *call) {
  static const char kBefore[] = "{\"content\":[{\"type\":\"text\",\"text\":\"";
  static const char kBetween[] = " bytes\"}],\"structured\":{\"bytes\":";
  char buffer[65536];
  uint64_t bytes = 0;
  char *at = buffer;

  for (;;) {
    size_t got = 0;
    size_t i;
    bh_status st = call->api->receive(call, buffer, sizeof buffer, &got);
    if (st != BH_OK) return st;
    if (got == 0) break;
    for (i = 0; i < got; i++) {
      if (buffer[i] >= 'a' && buffer[i] <= 'z') buffer[i] = (char)(buffer[i] - 'a' + 'A');
    }
    st = call->api->emit(call, BH_STREAM_DATA, buffer, got);
    if (st != BH_OK) return st;
    bytes += got;
  }
  at = put(at, TEXT(kBefore));
  at += print_number(bytes, at);
  at = put(at, TEXT(kBetween));
  at += print_number(bytes, at);
  at = put(at, TEXT("}}"));
  return call->api->result(call, buffer, (size_t)(at - buffer));
}

static int is(const char *name, size_t size, const char *expected) {
  return size == strlen(expected) && memcmp(name, expected, size) == 0;
}

static bh_status toolset_call(void *self, bh_call *call, const char *tool, size_t tool_size,
                              const char *args, size_t args_size, const bh_blob *const *blobs,
                              size_t blob_count) {
  (void)self;
  (void)blobs;
  (void)blob_count;
  if (is(tool, tool_size, "echo")) return run_echo(call, args, args_size);
  if (is(tool, tool_size, "upper")) return run_upper(call);
  return call->api->fail(call, BH_NOT_FOUND, TEXT("this toolset has echo and upper"),
                         TEXT("{\"reason\":\"unknown_tool\",\"field\":\"name\"}"));
}

/* ------------------------------------------------------------------ the tables */

static const bh_toolset kToolset = {
    sizeof(bh_toolset), BH_ABI_MINOR, toolset_list, toolset_call, NULL, /* no extensions */
};

static const bh_provider kProvider = {
    sizeof(bh_provider),
    BH_ABI_MINOR,
    "echo",
    "Echo and upper case",
    "{\"type\":\"object\",\"additionalProperties\":false}", /* nothing to configure */
    "{}",                                                   /* capabilities */
    NULL,                                                   /* probe: always works */
    NULL,                                                   /* open, close: nothing is kept */
    NULL,
    &kToolset,
};

static const bh_provider *const kProviders[] = {&kProvider};
static const bh_provider_list kProviderList = {sizeof(bh_provider_list), 1, kProviders};

static const void *get_interface(const char *interface_id) {
  return strcmp(interface_id, BH_TOOLSET) == 0 ? &kProviderList : NULL;
}

static void shut_down(const bh_host *host) { (void)host; }

static const bh_plugin kPlugin = {
    sizeof(bh_plugin), BH_ABI_MINOR, "org.example.echo", "Echo",    BULKHEAD_PLUGIN_VERSION,
    "Example",         "Apache-2.0", get_interface,      shut_down,
};

BH_EXPORT const bh_plugin *BH_PLUGIN_ENTRY(bh_call *call) {
  (void)call;
  return &kPlugin;
}
