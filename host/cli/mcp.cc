#include "cli/client.h"
#include "cli/signals.h"
#include "cli/verbs.h"

#if __has_include("mcp/stdio.h")
#include <signal.h>
#include <unistd.h>

#include "mcp/stdio.h"
#define BH_HAS_MCP 1
#else
#define BH_HAS_MCP 0
#endif

namespace bh::cli {
#if BH_HAS_MCP
namespace {
constexpr std::int32_t kCloseMs = 5000;
}
#endif

int verb_mcp(const Options& options, const Surroundings& around) {
  Result<Setup> setup = make_setup(options, around);
  if (!setup) return fail(setup.error());
  // Clients start their servers in whatever folder they are in, often /. That is no reason to give
  // them nothing.
  Result<void> settled = settle_workspace(*setup);
  if (!settled) return fail(settled.error());
#if BH_HAS_MCP
  // A client that is gone is an error of a write, not the end of the program. Blocked before the
  // library starts threads, so that it holds for all of them.
  Signals no_reader({});
  bulkhead::Runtime runtime;
  bulkhead::Fault fault = bulkhead::Runtime::make(setup->runtime_config, runtime);
  if (fault) return fail(from_fault(fault, setup->named));
  // What runs is ended in good order: a client that is in a hurry sends SIGTERM.
  struct sigaction stop {};
  stop.sa_handler = [](int) { mcp::request_stop(); };
  stop.sa_flags = SA_RESTART;
  for (int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &stop, nullptr);
  int code = mcp::run_stdio(runtime, setup->session_config, STDIN_FILENO, STDOUT_FILENO);
  runtime.close(kCloseMs);
  return code;
#else
  return fail(Problem{"this build has no MCP server", "build it with host/mcp"});
#endif
}

}  // namespace bh::cli
