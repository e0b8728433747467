// The toolset: which tools there are by its configuration, and what they share.
#pragma once

#include <bulkhead/sdk.hpp>
#include <bulkhead/sdk/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "answer.h"
#include "registry.h"

namespace toolset_sandbox {

// The operator's configuration of the toolset.
struct Options {
  bool aliases = false;  // the names that Nous documents
  bool extras = false;   // what OpenSandbox's tools lack
  // sandbox_reset may empty a workspace that the operator named, not only one of Bulkhead's making.
  bool reset_workspace = false;
};

// What all calls share. Any thread.
struct Shared {
  Options options;
  Registry registry;
  Reports reports;
};

// One call: `args` satisfies the tool's schema, with JSON texts decoded.
struct Request {
  sdk::Call& call;
  json::object args;
  sdk::Blobs blobs;
  Shared& shared;

  std::string text(std::string_view key) const { return std::string(json::text(args, key)); }
  // Whether it is there, and not null.
  bool has(std::string_view key) const {
    const json::value* v = args.if_contains({key.data(), key.size()});
    return v != nullptr && !v->is_null();
  }
};

using Handler = sdk::Result<sdk::ToolResult> (*)(Request&);

// A tool that changes something, in MCP's words.
enum class Effect { reads, adds, changes };

struct ToolRow {
  const char* name;
  const char* title;
  const char* description;
  Effect effect;
  std::vector<const char*> needs;
  Handler handler;
};

// The tables, each in the order of tools/list.
const std::vector<ToolRow>& opensandbox_rows();

struct OwnToolRow {
  ToolRow row;
  const char* input;    // JSON schema
  const char* accepts;  // the lenient one; null: made from `input`
  const char* output;
};
const std::vector<OwnToolRow>& alias_rows();
const std::vector<OwnToolRow>& extra_rows();

class SandboxTools : public sdk::Tools {
 public:
  explicit SandboxTools(const sdk::Opening& how);

 private:
  void add_row(const ToolRow& row, const json::object& input, const json::object& accepts,
               const json::object& output);
  Shared shared_;
};

// Runs one operation and gives its result as an object.
sdk::Result<json::object> operate(sdk::Call& call, std::string_view operation,
                                  const json::object& args);

// A wrong argument, by its JSON pointer.
sdk::Failure wrong(std::string message, std::string_view field, std::string_view remedy = {});

// A number of seconds as milliseconds, rounded up. INVALID_ARGUMENT unless it is more than 0 and at
// most 100 years.
sdk::Result<int64_t> milliseconds(const json::object& args, std::string_view key,
                                  double otherwise);

}  // namespace toolset_sandbox
