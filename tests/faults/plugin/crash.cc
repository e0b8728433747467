// A toolset whose one tool ends the process, as a plugin with a bad pointer does.
#include <signal.h>

#include <bulkhead/sdk.hpp>
#include <chrono>

namespace sdk = bulkhead::sdk;

namespace {

class Crash : public sdk::Tools {
 public:
  Crash() {
    add(sdk::Tool("crash")
            .description("Ends the process by a segmentation fault.")
            .input_schema(
                R"({"type":"object","additionalProperties":false,"properties":{"seconds":{"type":"number"}}})"),
        [](sdk::Call& call, std::string_view, sdk::Blobs) -> sdk::Result<sdk::ToolResult> {
          // Late enough that what was asked for beside it has begun.
          (void)call.wait(std::chrono::milliseconds(500));
          (void)::raise(SIGSEGV);
          return sdk::ToolResult("still here");
        });
  }
};

}  // namespace

BULKHEAD_PLUGIN(sdk::Plugin("org.example.crash", "Crash", BULKHEAD_PLUGIN_VERSION)
                    .vendor("Example")
                    .license("Apache-2.0")
                    .toolset<Crash>("crash", sdk::Provides().title("Ends the process")));
