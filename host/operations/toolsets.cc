#include "operations/toolsets.h"

#include <algorithm>
#include <utility>

#include "core/engine.h"
#include "loader/opening.h"
#include "sandbox/backend.h"

namespace bh {
namespace {

constexpr std::int64_t kFirstPause = kSecond;
constexpr std::int64_t kLongestPause = 30 * kSecond;

bool valid_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= 128 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '-' || c == '.';
  });
}

// Takes the items of list().
class DefinitionSink final : public NullSink {
 public:
  bh_status item(Call&, std::string_view json) override {
    definitions.emplace_back(json);
    return BH_OK;
  }
  std::vector<std::string> definitions;
};

Failure faulty(const std::string& name, const std::string& what) {
  return fail(BH_INVALID_ARGUMENT, "the tool " + json::quote(name) + " " + what, "tool_definition",
              {{"tool", name}});
}

Result<std::shared_ptr<const Schema>> compile_member(const json::object& o, std::string_view key,
                                                     std::string_view subject) {
  Schema::Options options;
  options.subject = subject;
  auto schema = Schema::compile_parsed(o.at(key), options);
  if (!schema) return tl::unexpected(schema.error().within(std::string(key)));
  return schema;
}

}  // namespace

OpenedToolset::~OpenedToolset() {
  if (provider != nullptr) provider->ops.close(self);
}

Result<std::shared_ptr<Tool>> compile_tool(const json::object& definition) {
  auto tool = std::make_shared<Tool>();
  tool->name = json::get_string(definition, "name");
  if (!valid_tool_name(tool->name)) {
    return faulty(tool->name, "needs a name of 1 to 128 letters, digits, _, - and .");
  }
  if (json::get_object(definition, "input_schema") == nullptr) {
    return faulty(tool->name, "has no input_schema");
  }
  if (json::get_string(definition, "description").empty()) {
    return faulty(tool->name, "has no description");
  }
  // The published schema is checked too: clients read it, and a promise that is not kept is none.
  auto input = compile_member(definition, "input_schema", "arguments");
  if (!input) return tl::unexpected(input.error().within("the tool " + tool->name));
  tool->accepts = *input;
  if (definition.contains("accepts_schema")) {
    auto accepts = compile_member(definition, "accepts_schema", "arguments");
    if (!accepts) return tl::unexpected(accepts.error().within("the tool " + tool->name));
    tool->accepts = *accepts;
    tool->coerces = true;
  }
  if (definition.contains("output_schema")) {
    auto output = compile_member(definition, "output_schema", "structured result");
    if (!output) return tl::unexpected(output.error().within("the tool " + tool->name));
    tool->output = *output;
  }
  if (const json::array* needs = json::get_array(definition, "needs")) {
    for (const json::value& v : *needs) {
      if (!v.is_string()) return faulty(tool->name, "lists a need that is not text");
      std::string need{std::string_view(v.get_string())};
      tool->needs.insert(need.substr(0, need.find('/')));
    }
  }
  tool->definition = json::print(definition);
  return tool;
}

Toolsets::Toolsets(Registry& registry, PluginCaller& caller, const DataRoot& root,
                   const std::map<std::string, json::object>& config)
    : registry_(registry), caller_(caller), root_(root), config_(config) {}

void Toolsets::report(Call& up, const Provider& provider, const std::string& what) {
  up.engine().log().write({BH_LOG_WARN, "toolset " + provider.id + ": " + what, provider.plugin, {}},
                          nullptr);
}

void Toolsets::leave_out(Call& up, const Provider& provider, const std::string& why,
                         std::vector<std::string>& left_out) {
  report(up, provider, why);
  left_out.push_back("the toolset " + provider.id + " " + why);
}

std::vector<std::string> Toolsets::left_out() const {
  std::lock_guard lock(mutex_);
  return left_out_;
}

Result<std::shared_ptr<OpenedToolset>> Toolsets::open(Call& up, const Provider& provider) {
  auto opening = Opening::make(provider, config_, root_, "toolsets");
  if (!opening) return tl::unexpected(std::move(opening).error());
  const bh_opening how = opening->view();
  auto opened = std::make_shared<OpenedToolset>();
  opened->host = caller_.host(provider.plugin);
  NullSink nowhere;
  NoInput none;
  void* self = nullptr;
  auto done = drive(up, opened->host, provider.plugin + ", open", nowhere, none,
                    [&](bh_call* call) { return provider.ops.open(call, &how, &self); });
  if (!done) return tl::unexpected(std::move(done).error());
  opened->provider = &provider;
  opened->self = self;
  return opened;
}

Result<void> Toolsets::list_into(Call& up, const std::shared_ptr<OpenedToolset>& toolset,
                                 ToolList& tools, std::set<std::string>& names) {
  const Provider& provider = *toolset->provider;
  DefinitionSink definitions;
  NoInput none;
  auto listed = drive(up, toolset->host, provider.plugin + ", list", definitions, none,
                      [&](bh_call* call) { return provider.toolset().list(toolset->self, call); });
  if (!listed) return tl::unexpected(std::move(listed).error());
  for (const std::string& text : definitions.definitions) {
    auto definition = json::parse_object(text);
    if (!definition) {
      report(up, provider, definition.error().message);
      continue;
    }
    (*definition)["plugin"] = provider.plugin;
    (*definition)["toolset"] = provider.id;
    auto tool = compile_tool(*definition);
    if (!tool) {
      report(up, provider, tool.error().message);
      continue;
    }
    for (const std::string& need : (*tool)->needs) {
      if (up.engine().catalogue().find(need) == nullptr) {
        report(up, provider, "the tool " + (*tool)->name + " needs " + need +
                                 ", which this host does not have");
        tool = faulty((*tool)->name, "needs an operation that is not there");
        break;
      }
    }
    if (!tool) continue;
    if (!names.insert((*tool)->name).second) {
      report(up, provider, "the tool " + (*tool)->name + " is hidden by an earlier one of that name");
      continue;
    }
    (*tool)->toolset = toolset;
    tools.push_back(std::move(*tool));
  }
  return {};
}

std::shared_ptr<const ToolList> Toolsets::current_locked() const {
  if (!tools_ || tools_as_of_ != changes_.load()) return nullptr;
  return left_out_.empty() || monotonic_ns() < retry_at_ ? tools_ : nullptr;
}

Result<std::shared_ptr<const ToolList>> Toolsets::all(Call& up) {
  {
    std::lock_guard lock(mutex_);
    if (auto known = current_locked()) return known;
  }
  auto turn = asking_.take(up);
  if (!turn) return tl::unexpected(std::move(turn).error());
  std::map<std::string, std::shared_ptr<OpenedToolset>> open_already;
  {
    std::lock_guard lock(mutex_);
    // Who had the turn before may have asked.
    if (auto known = current_locked()) return known;
    open_already = open_;
  }
  const std::uint64_t as_of = changes_.load();
  auto tools = std::make_shared<ToolList>();
  std::vector<std::string> left_out;
  std::set<std::string> names;
  for (const Provider* provider : registry_.providers(BH_TOOLSET)) {
    std::shared_ptr<OpenedToolset>& toolset = open_already[provider->id];
    if (!toolset) {
      auto opened = open(up, *provider);
      if (!opened) {
        BH_TRY(up.check());
        leave_out(up, *provider, "cannot be opened: " + opened.error().message, left_out);
        continue;
      }
      toolset = std::move(*opened);
      std::lock_guard lock(mutex_);
      open_[provider->id] = toolset;
    }
    if (auto listed = list_into(up, toolset, *tools, names); !listed) {
      BH_TRY(up.check());
      leave_out(up, *provider, "cannot list its tools: " + listed.error().message, left_out);
    }
  }
  std::lock_guard lock(mutex_);
  tools_ = tools;
  tools_as_of_ = as_of;
  retry_pause_ = left_out.empty() ? 0 : std::clamp(retry_pause_ * 2, kFirstPause, kLongestPause);
  retry_at_ = monotonic_ns() + retry_pause_;
  left_out_ = std::move(left_out);
  return tools_;
}

Result<std::shared_ptr<const Tool>> Toolsets::find(Call& up, std::string_view name) {
  auto tools = all(up);
  if (!tools) return tl::unexpected(std::move(tools).error());
  for (const auto& tool : **tools) {
    if (tool->name == name) return tool;
  }
  return std::shared_ptr<const Tool>();
}

void Toolsets::close() {
  std::shared_ptr<const ToolList> tools;
  std::map<std::string, std::shared_ptr<OpenedToolset>> open;
  // Plugins' close() runs outside the lock.
  {
    std::lock_guard lock(mutex_);
    tools.swap(tools_);
    open.swap(open_);
  }
}

}  // namespace bh
