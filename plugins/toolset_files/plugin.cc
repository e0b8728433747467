// The tools that keep files beyond the sandbox.
#include <cstdio>

#include "tools.h"

namespace toolset_files {

class FileTools : public sdk::Tools {
 public:
  FileTools() {
    add(put_tool(), &put);
    add(get_tool(), &without_blobs<get>);
    add(list_tool(), &without_blobs<toolset_files::list>);
    add(remove_tool(), &without_blobs<toolset_files::remove>);
    add(copy_to_tool(), &without_blobs<copy_to>);
    add(copy_from_tool(), &without_blobs<copy_from>);
  }

 private:
  template <sdk::Result<sdk::ToolResult> (*F)(sdk::Call&, std::string_view)>
  static sdk::Result<sdk::ToolResult> without_blobs(sdk::Call& call, std::string_view args,
                                                    sdk::Blobs) {
    return F(call, args);
  }
};

void pass(const json::object& from, std::initializer_list<std::string_view> keys,
          json::object& to) {
  for (std::string_view key : keys) {
    const json::value* v = from.if_contains({key.data(), key.size()});
    if (v != nullptr && !v->is_null()) to[{key.data(), key.size()}] = *v;
  }
}

sdk::Result<json::object> run(sdk::Call& call, sdk::Operation operation,
                              const json::object& args) {
  auto result = operation.args(json::print(args)).run(call);
  if (!result) return std::move(result).failure();
  return json::parse_object(*result);
}

std::string amount(int64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  char text[48];
  std::snprintf(text, sizeof text, "%.1f %s", value, kUnits[unit]);
  return text;
}

}  // namespace toolset_files

BULKHEAD_PLUGIN(bulkhead::sdk::Plugin("bulkhead.toolset_files", "File tools",
                                      BULKHEAD_PLUGIN_VERSION)
                    .vendor("Bulkhead")
                    .license("Apache-2.0")
                    .toolset<toolset_files::FileTools>(
                        "files",
                        bulkhead::sdk::Provides().title("Keep files beyond the sandbox")));
