#include <bulkhead/host.h>

#include "cli/output.h"
#include "cli/problem.h"
#include "cli/verbs.h"

namespace bh::cli {

int verb_version(const Options& options, const Surroundings&) {
  std::uint32_t abi = bh_plugin_abi();
  std::string number = std::to_string(abi >> 16) + "." + std::to_string(abi & 0xFFFF);
  std::string version = bh_version_text();
  std::string text = options.json ? "{\"version\":\"" + version + "\",\"abi\":\"" + number + "\"}\n"
                                  : "bulkhead " + version + " (plugin ABI " + number + ")\n";
  return print(text) ? kExitOk : kExitOurs;
}

}  // namespace bh::cli
