/* plugins_on_old_host OLD_TOOLSET.so FOLDER...: every plugin below the folders (FOLDER/NAME/
 * NAME.so), and one of 1.0, on the mini-host of 1.0. Each must work or refuse with a text, whatever
 * lies behind the tables that the host hands out: nothing readable, or garbage. */
#include <dirent.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "guard.h"
#include "mini_host.h"

static int failed;
static int checks;
static const char *about = "";
#define CHECK(condition)                                                          \
  do {                                                                            \
    ++checks;                                                                     \
    if (!(condition)) {                                                           \
      ++failed;                                                                   \
      printf("FAILED %s: %s, line %d\n", about, #condition, __LINE__);            \
      fflush(stdout);                                                             \
    }                                                                             \
  } while (0)

static mini_call call;

static bh_opening opening(void) {
  bh_opening how;
  memset(&how, 0, sizeof how);
  how.struct_size = sizeof how;
#define SET(field, text) how.field.data = text, how.field.size = sizeof text - 1
  SET(config, "{}");
  SET(instance, "mini");
  SET(owner, "mini");
  SET(state_dir, "/nonexistent/mini-host");
  return how;
}

static void open_tools(mini_host *host, const bh_provider *provider) {
  bh_toolset tools = mini_toolset(provider);
  bh_opening how = opening();
  void *self = NULL;
  bh_status st;
  CHECK(tools.list != NULL && tools.call != NULL);
  mini_begin(host, &call);
  st = provider->open(&call.base, &how, &self);
  if (st != BH_OK) {
    CHECK(call.records > 0 && call.text[0] != '\0');
    return;
  }
  mini_begin(host, &call);
  CHECK(tools.list(self, &call.base) == BH_OK);
  CHECK(call.items > 0 && strstr(call.all, "\"input_schema\"") != NULL);
  mini_begin(host, &call);
  CHECK(tools.call(self, &call.base, "no such tool", 12, "{}", 2, NULL, 0) != BH_OK);
  CHECK(call.records > 0 && call.text[0] != '\0');
  CHECK(tools.get_extension("org.example.nothing/1") == NULL);
  provider->close(self);
}

static void open_isolation(mini_host *host, const bh_provider *provider) {
  bh_isolation backend = mini_isolation(provider);
  bh_opening how = opening();
  void *self = NULL, *sandbox = NULL;
  bh_status st;
  CHECK(backend.profile_schema != NULL && backend.exec_schema != NULL);
  CHECK(backend.create != NULL && backend.destroy != NULL && backend.release != NULL &&
        backend.exec != NULL);
  mini_begin(host, &call);
  st = provider->probe(&call.base, &how);
  CHECK(st == BH_OK || (call.records > 0 && call.text[0] != '\0'));
  mini_begin(host, &call);
  st = provider->open(&call.base, &how, &self);
  if (st != BH_OK) {
    CHECK(call.records > 0 && call.text[0] != '\0');
    return;
  }
  mini_begin(host, &call);
  st = backend.create(self, &call.base, "mini-1", 6, "{}", 2, &sandbox);
  if (st == BH_OK) {
    CHECK(strstr(call.result, "\"rules\"") != NULL);
    backend.release(sandbox);
  } else {
    CHECK(call.records > 0 && call.text[0] != '\0');
  }
  mini_begin(host, &call);
  CHECK(backend.destroy(self, &call.base, "mini-1", 6) == BH_OK);
  CHECK(backend.get_extension("org.example.nothing/1") == NULL);
  provider->close(self);
}

static bh_status count_file(void *ctx, const bh_file_info *info) {
  if (info->struct_size >= sizeof *info && info->kind == BH_FILE_REGULAR && info->size == 5) {
    ++*(int *)ctx;
  }
  return BH_OK;
}

static void remove_tree(char *folder) {
  char *const roots[] = {folder, NULL};
  FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
  FTSENT *at;
  while (walk != NULL && (at = fts_read(walk)) != NULL) {
    if (at->fts_info != FTS_D) (void)remove(at->fts_accpath);
  }
  if (walk != NULL) (void)fts_close(walk);
}

/* A store that needs no configuration keeps a file; another one says why it does not open. */
static void open_files(mini_host *host, const bh_provider *provider) {
  bh_filestore store = mini_filestore(provider);
  bh_opening how = opening();
  char folder[] = "/tmp/bh-mini-XXXXXX";
  bh_write what;
  void *self = NULL;
  int seen = 0;
  CHECK(store.stat != NULL && store.list != NULL && store.read != NULL && store.write != NULL &&
        store.remove != NULL);
  CHECK(mkdtemp(folder) != NULL);
  how.state_dir.data = folder;
  how.state_dir.size = strlen(folder);
  mini_begin(host, &call);
  if (provider->open(&call.base, &how, &self) != BH_OK) {
    CHECK(call.records > 0 && call.text[0] != '\0');
    remove_tree(folder);
    return;
  }
  memset(&what, 0, sizeof what);
  what.struct_size = sizeof what;
  what.data = "bytes";
  what.size = 5;
  mini_begin(host, &call);
  CHECK(store.write(self, &call.base, "mini/f", 6, &what) == BH_OK);
  CHECK(strstr(call.result, "\"etag\"") != NULL);
  mini_begin(host, &call);
  CHECK(store.stat(self, &call.base, "mini/f", 6, count_file, &seen) == BH_OK && seen == 1);
  mini_begin(host, &call);
  CHECK(store.list(self, &call.base, "mini", 4, 0, NULL, 0, count_file, &seen) == BH_OK &&
        seen == 2);
  mini_begin(host, &call);
  CHECK(store.read(self, &call.base, "mini/f", 6, 1, 3) == BH_OK);
  CHECK(call.output_size == 3 && memcmp(call.output, "yte", 3) == 0);
  mini_begin(host, &call);
  CHECK(store.remove(self, &call.base, "mini/f", 6, 0) == BH_OK);
  mini_begin(host, &call);
  CHECK(store.remove(self, &call.base, "mini/f", 6, 0) == BH_NOT_FOUND && call.records > 0);
  mini_begin(host, &call);
  CHECK(store.read(self, &call.base, "mini/f", 6, 0, -1) == BH_NOT_FOUND);
  CHECK(store.get_extension("org.example.nothing/1") == NULL);
  provider->close(self);
  remove_tree(folder);
}

static void try_plugin(mini_host *host, const char *path) {
  static const char *const kinds[] = {BH_TOOLSET, BH_ISOLATION, BH_FILESTORE};
  mini_plugin plugin;
  size_t kind;
  uint32_t i, found = 0;
  about = path;
  if (mini_load(host, &call, path, &plugin) != 0) {
    CHECK(!"loads");
    printf("  %s\n", call.text);
    return;
  }
  CHECK(plugin.table.get_interface("bh.nothing/1") == NULL);
  CHECK(plugin.table.get_interface("bh.toolset/1x") == NULL);
  for (kind = 0; kind < 3; ++kind) {
    const bh_provider_list *list = mini_providers(&plugin, kinds[kind]);
    for (i = 0; list != NULL && i < list->count; ++i, ++found) {
      bh_provider provider = mini_provider(list->items[i]);
      CHECK(provider.id != NULL && provider.id[0] != '\0');
      if (kind == 0) open_tools(host, &provider);
      if (kind == 1) open_isolation(host, &provider);
      if (kind == 2) open_files(host, &provider);
    }
  }
  CHECK(found > 0);
  plugin.table.shutdown(&host->host);
}

/* The tools of 1.0 in full, on the host that they were made for. */
static void try_old_tools(mini_host *host, const char *path) {
  mini_plugin plugin;
  bh_toolset tools;
  bh_provider provider;
  about = path;
  if (mini_load(host, &call, path, &plugin) != 0) {
    CHECK(!"loads");
    return;
  }
  provider = mini_provider(mini_providers(&plugin, BH_TOOLSET)->items[0]);
  tools = mini_toolset(&provider);
#define RUN(name, args) \
  (tools.call(NULL, &call.base, name, sizeof name - 1, args, sizeof args - 1, NULL, 0))
  mini_begin(host, &call);
  CHECK(RUN("old_echo", "{\"a\":1}") == BH_OK && strcmp(call.output, "{\"a\":1}") == 0);
  CHECK(strcmp(call.result, "{\"content\":[],\"structured\":{\"a\":1}}") == 0);
  mini_begin(host, &call);
  CHECK(RUN("old_fail", "{}") == BH_DATA_LOSS && strcmp(call.text, "it is all gone") == 0);
  mini_begin(host, &call);
  call.cancelled = 1;
  CHECK(RUN("old_echo", "{\"a\":1}") == BH_CANCELLED && call.result[0] == '\0');
  mini_begin(host, &call);
  call.input = "bytes that come in";
  call.input_size = 18;
  CHECK(RUN("old_input", "{}") == BH_OK && strcmp(call.output, "bytes that come in") == 0);
  mini_begin(host, &call);
  CHECK(RUN("old_nested", "{}") == BH_OK && strstr(call.result, "mini") != NULL);
  mini_begin(host, &call);
  CHECK(RUN("old_attach", "{}") == BH_OK && call.output_size == 4);
}

/* Host tables that end before each function in turn: the entry refuses with a text, or what the
 * entry does without works. In a child, so that a read behind the table is one failure. */
static void try_cut(const char *path, size_t size) {
  mini_host host;
  pid_t child;
  int status = 0;
  fflush(stdout);
  child = fork();
  if (child == 0) {
    mini_plugin plugin;
    mini_host_init(&host);
    host.call_api = at_guard(&mini_call_api, sizeof mini_call_api, size);
    if (mini_load(&host, &call, path, &plugin) != 0) {
      _exit(call.records == 1 && call.code == BH_UNIMPLEMENTED ? 0 : 3);
    }
    _exit(size < sizeof mini_call_api ? 4 : 0);
  }
  about = path;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    printf("  the call's table ended after %zu bytes, wait status %#x\n", size, (unsigned)status);
  }
}

static void each_plugin(mini_host *host, const char *folder, int *found) {
  struct dirent *entry;
  DIR *dir = opendir(folder);
  while (dir != NULL && (entry = readdir(dir)) != NULL) {
    char path[4096];
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s/%s.so", folder, entry->d_name, entry->d_name);
    if (access(path, R_OK) != 0) continue;
    ++*found;
    try_plugin(host, path);
  }
  if (dir != NULL) closedir(dir);
}

int main(int argc, char **argv) {
  static const size_t behind[] = {0, 8, 512};
  mini_host host;
  int found = 0, arg;
  size_t i;
  if (argc < 3) return 2;
  for (i = 0; i < 3; ++i) {
    mini_host_init(&host);
    host.call_api = at_guard(&mini_call_api, sizeof mini_call_api, sizeof mini_call_api + behind[i]);
    host.host.api = at_guard(&mini_host_api, sizeof mini_host_api, sizeof mini_host_api + behind[i]);
    host.operations =
        at_guard(&mini_operations, sizeof mini_operations, sizeof mini_operations + behind[i]);
    try_plugin(&host, argv[1]);
    try_old_tools(&host, argv[1]);
    for (arg = 2; arg < argc; ++arg) each_plugin(&host, argv[arg], &found);
  }
  for (i = offsetof(bh_call_api, result); i <= sizeof(bh_call_api); i += sizeof(void *)) {
    try_cut(argv[1], i);
  }
  if (found == 0) printf("BH_SKIPPED abi_plugins_on_old_host: no plugin of today's is built\n");
  printf("plugins on the old host: %d loads of today's, %d checks, %d failed\n", found, checks,
         failed);
  return failed != 0;
}
