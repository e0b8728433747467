// A third party's plugin in C++17, from the installed headers alone.
#include <bulkhead/sdk.hpp>
#include <bulkhead/sdk/json.hpp>

namespace sdk = bulkhead::sdk;

class Sum : public sdk::Tools {
 public:
  Sum() {
    add(sdk::Tool("sum")
            .description("Adds numbers.")
            .input_schema(R"({"type":"object","additionalProperties":false,"required":["numbers"],
                "properties":{"numbers":{"type":"array","items":{"type":"number"}}}})")
            .read_only(true),
        [](sdk::Call&, std::string_view text, sdk::Blobs) -> sdk::Result<sdk::ToolResult> {
          auto args = sdk::json::parse_object(text);
          if (!args) return std::move(args).failure();
          double sum = 0;
          for (const auto& n : *sdk::json::list(*args, "numbers")) sum += n.to_number<double>();
          return sdk::ToolResult("the sum is " + std::to_string(static_cast<long>(sum)));
        });
  }
};

BULKHEAD_PLUGIN(sdk::Plugin("org.example.sum", "Sum", BULKHEAD_PLUGIN_VERSION)
                    .vendor("Example")
                    .license("Apache-2.0")
                    .toolset<Sum>("sum"));
