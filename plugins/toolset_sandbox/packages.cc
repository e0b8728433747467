#include "packages.h"

#include <set>
#include <utility>

#include "exec.h"

namespace toolset_sandbox {

namespace {

constexpr char kEnvironment[] =
    R"sh(export PYTHONUSERBASE="$HOME/.bulkhead/python"
NPM_PREFIX="$HOME/.bulkhead/npm"
export NODE_PATH="$NPM_PREFIX/lib/node_modules${NODE_PATH:+:$NODE_PATH}"
export PATH="$PYTHONUSERBASE/bin:$NPM_PREFIX/bin:$PATH"
)sh";

// $1 is --no-index where the network is off, else empty. Debian's Python refuses to install beside
// its own packages unless it is told to; the prefix is not its place.
constexpr char kPip[] = R"sh(offline=$1; shift
export PIP_BREAK_SYSTEM_PACKAGES=1
python3 -m pip --version >/dev/null 2>&1 || {
  echo "pip is not in the sandbox: the machine has no python3 with pip (package python3-pip)" >&2
  exit 69
}
exec python3 -m pip install --user --no-input --disable-pip-version-check \
  --no-warn-script-location $offline -- "$@")sh";

constexpr char kNpm[] = R"sh(offline=$1; shift
command -v npm >/dev/null 2>&1 || {
  echo "npm is not in the sandbox: the machine has none (package npm)" >&2
  exit 69
}
npm install --global --prefix "$NPM_PREFIX" --no-audit --no-fund --loglevel=error $offline -- "$@" ||
  exit
npm ls --global --prefix "$NPM_PREFIX" --depth=0 | sed -n 's/^[^ ]* \(.*@.*\)$/npm-has \1/p')sh";

// A package that lies in the sandbox needs no network.
bool is_path(std::string_view package) {
  return package.substr(0, 1) == "/" || package.substr(0, 2) == "./" ||
         package.substr(0, 3) == "../";
}

sdk::Status check_packages(const json::array& packages, std::string_view field) {
  if (packages.empty()) return wrong("no package is named", field);
  for (size_t i = 0; i < packages.size(); ++i) {
    const std::string_view name = json::view(packages[i].get_string());
    const bool plain = name.find('\0') == std::string_view::npos;
    if (!name.empty() && name[0] != '-' && plain) continue;
    return wrong("\"" + std::string(plain ? name : "") + "\" is not the name of a package",
                 std::string(field) + "/" + std::to_string(i));
  }
  return {};
}

// Whether the persona's sandboxes have a network, by the operator's settings.
sdk::Result<bool> network_is_off(sdk::Call& call) {
  auto host = operate(call, "host.inspect", {});
  if (!host) return std::move(host).failure();
  const json::object* defaults = json::child(*host, "defaults");
  return defaults != nullptr && json::text(*defaults, "network") == "off";
}

// "Successfully installed a-1.0 b-2", "Requirement already satisfied: c in ...", "npm-has d@1".
json::array found_in(std::string_view output, const json::array& packages) {
  constexpr std::string_view kNew = "Successfully installed ";
  constexpr std::string_view kThere = "Requirement already satisfied: ";
  constexpr std::string_view kNpmHas = "npm-has ";
  std::set<std::string> wanted;
  for (const json::value& one : packages) wanted.emplace(json::view(one.get_string()));
  json::array out;
  while (!output.empty()) {
    const size_t end = std::min(output.find('\n'), output.size());
    std::string_view line = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    if (line.substr(0, kNew.size()) == kNew) {
      line.remove_prefix(kNew.size());
      while (!line.empty()) {
        const size_t space = std::min(line.find(' '), line.size());
        const std::string_view word = line.substr(0, space);
        const size_t dash = word.rfind('-');
        if (dash != std::string_view::npos) {
          out.emplace_back(std::string(word.substr(0, dash)) + "==" +
                           std::string(word.substr(dash + 1)));
        }
        line.remove_prefix(std::min(space + 1, line.size()));
      }
    } else if (line.substr(0, kThere.size()) == kThere) {
      line.remove_prefix(kThere.size());
      const std::string name(line.substr(0, line.find_first_of(" <>=!~[(")));
      if (wanted.count(name) != 0) out.emplace_back(name);
    } else if (line.substr(0, kNpmHas.size()) == kNpmHas) {
      line.remove_prefix(kNpmHas.size());
      out.emplace_back(std::string(line.substr(0, line.find(' '))));
    }
  }
  return out;
}

}  // namespace

json::array package_script(std::string_view script, const json::array& args) {
  json::array out{"/bin/sh", "-c", std::string(kEnvironment) + std::string(script), "sh"};
  out.insert(out.end(), args.begin(), args.end());
  return out;
}

json::array with_packages(const json::array& argv) { return package_script("exec \"$@\"", argv); }

sdk::Result<Installed> install_packages(Request& request, const json::array& packages,
                                        std::string_view manager, const std::string& id,
                                        std::string_view field) {
  if (manager != "pip" && manager != "npm") {
    return sdk::failure(BH_UNIMPLEMENTED,
                        std::string(manager) +
                            " cannot install here: the sandbox sees the system's own folders "
                            "read-only and is not their administrator",
                        "manager_unsupported", "/manager",
                        "use pip or npm, or have the operator install it on the machine");
  }
  if (auto st = check_packages(packages, field); !st) return std::move(st).failure();
  bool all_paths = true;
  for (const json::value& one : packages) all_paths &= is_path(json::view(one.get_string()));
  auto off = network_is_off(request.call);
  if (!off) return std::move(off).failure();
  if (*off && !all_paths) {
    return sdk::failure(BH_FAILED_PRECONDITION,
                        "the sandbox's network is off, so nothing can be fetched", "network_off",
                        field,
                        "have the operator set the network to unrestricted, or name packages that "
                        "lie in the sandbox (\"./name.whl\")");
  }
  const bool pip = manager == "pip";
  json::array args{*off ? (pip ? "--no-index" : "--offline") : ""};
  args.insert(args.end(), packages.begin(), packages.end());
  Command command;
  command.args["argv"] = package_script(pip ? kPip : kNpm, args);
  if (!id.empty()) command.args["sandbox"] = id;
  command.input = std::string();
  auto outcome = run_command(request.call, command);
  if (!outcome) return std::move(outcome).failure();
  Installed out;
  out.ok = outcome->code == 0;
  const std::string text = outcome->out.text();
  if (out.ok) out.installed = found_in(text, packages);
  out.output = text + outcome->err.text();
  const std::string why = why_stopped(command, *outcome);
  if (!why.empty()) out.output += (out.output.empty() ? "" : "\n") + why;
  return out;
}

sdk::Result<sdk::ToolResult> sandbox_install(Request& request) {
  auto done = install_packages(request, request.args.at("packages").get_array(),
                               json::text(request.args, "manager", "pip"), {}, "/packages");
  if (!done) return std::move(done).failure();
  auto result = answer(json::object{
      {"ok", done->ok}, {"installed", done->installed}, {"output", done->output}});
  if (result && !done->ok) result->error();
  return result;
}

}  // namespace toolset_sandbox
