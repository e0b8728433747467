// OpenSandbox's tools over the host's operations, and on request the names that Nous documents and
// what both lack.
#include "tools.h"

BULKHEAD_PLUGIN(
    bulkhead::sdk::Plugin("bulkhead.toolset_sandbox", "Sandbox tools", BULKHEAD_PLUGIN_VERSION)
        .vendor("Bulkhead")
        .license("Apache-2.0")
        .toolset<toolset_sandbox::SandboxTools>(
            "sandbox",
            bulkhead::sdk::Provides()
                .title("Run code and commands in a sandbox")
                .config_schema(
                    R"({"type":"object","additionalProperties":false,"properties":{)"
                    R"("aliases":{"type":"boolean","description":"Also the tools that Nous documents: sandbox_execute, sandbox_files and so on."},)"
                    R"("extras":{"type":"boolean","description":"Also what OpenSandbox's tools lack: a time limit for each command, bytes, listing."},)"
                    R"("reset_workspace":{"type":"boolean","description":"sandbox_reset may empty a workspace that is a folder of your own. Without it that is refused."}}})")));
