#include "own_sandbox.h"

#include <utility>

#include "exec.h"
#include "info.h"
#include "nous_files.h"
#include "packages.h"

namespace toolset_sandbox {

namespace {

constexpr size_t kMostFiles = 200;

// A line for each package: its manager, its name and its version, with spaces in between.
constexpr char kPackages[] = R"sh(
for info in "$PYTHONUSERBASE"/lib/python3*/site-packages/*.dist-info; do
  [ -d "$info" ] || continue
  name=${info##*/}; name=${name%.dist-info}
  echo "pip ${name%-*} ${name##*-}"
done
for manifest in "$NPM_PREFIX"/lib/node_modules/*/package.json \
  "$NPM_PREFIX"/lib/node_modules/@*/*/package.json; do
  [ -f "$manifest" ] || continue
  name=${manifest#"$NPM_PREFIX"/lib/node_modules/}
  version=$(sed -n 's/^ *"version": *"\([^"]*\)".*/\1/p' "$manifest" | head -n 1)
  echo "npm ${name%/package.json} ${version:-unknown}"
done
exit 0)sh";

// $1 is files, packages or full. The workspace is where commands start. It may lie below /tmp, as
// what is mounted there: then it stays, emptied.
constexpr char kReset[] = R"sh(
empty() {
  find "$1" -xdev -mindepth 1 -maxdepth 1 -exec rm -rf -- {} + && return
  find "$1" -mindepth 1 \( ! -type d -o -empty \) 2>&1 | while IFS= read -r left; do
    grep -qF " $left " /proc/self/mountinfo || exit 1
  done
}
failed=0
if [ "$1" != packages ]; then empty "$(pwd)" || failed=1; fi
if [ "$1" != files ]; then rm -rf -- "$PYTHONUSERBASE" "$NPM_PREFIX" || failed=1; fi
if [ "$1" = full ]; then
  empty "$HOME" || failed=1
  empty /tmp || failed=1
fi
exit $failed)sh";

sdk::Result<Outcome> run_script(Request& request, const char* script, const json::array& args) {
  Command command;
  command.args["argv"] = package_script(script, args);
  command.input = std::string();
  auto outcome = run_command(request.call, command);
  if (!outcome) return outcome;
  if (outcome->stopped()) {
    return sdk::failure(BH_FAILED_PRECONDITION, why_stopped(command, *outcome), "not_done");
  }
  return outcome;
}

json::array packages_in(std::string_view lines) {
  json::array out;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    const size_t first = line.find(' ');
    const size_t last = line.rfind(' ');
    if (first == std::string_view::npos || first == last) continue;
    out.push_back(json::object{{"name", std::string(line.substr(first + 1, last - first - 1))},
                               {"version", std::string(line.substr(last + 1))},
                               {"manager", std::string(line.substr(0, first))}});
  }
  return out;
}

// The limits that hold, by the report: {"memory_bytes": 2147483648}.
json::object limits_in(const json::object& report) {
  constexpr std::string_view kPrefix = "limits.";
  json::object out;
  const json::array* rules = json::list(report, "rules");
  if (rules == nullptr) return out;
  for (const json::value& one : *rules) {
    const json::object* rule = one.if_object();
    if (rule == nullptr) continue;
    const std::string_view name = json::text(*rule, "rule");
    const std::string_view status = json::text(*rule, "status");
    if (name.substr(0, kPrefix.size()) != kPrefix) continue;
    if (status != "enforced" && status != "partial") continue;
    const json::value* value = rule->if_contains("value");
    out[std::string(name.substr(kPrefix.size()))] =
        value != nullptr ? *value : json::value(nullptr);
  }
  return out;
}

}  // namespace

sdk::Result<sdk::ToolResult> sandbox_info(Request& request) {
  auto persona = persona_of(request.call);
  if (!persona) return std::move(persona).failure();
  auto outcome = run_script(request, kPackages, {});
  if (!outcome) return std::move(outcome).failure();
  auto got = operate(request.call, "sandbox.get", {{"sandbox", outcome->sandbox}});
  if (!got) return std::move(got).failure();
  auto files = listed_files(request.call, outcome->sandbox, ".", kMostFiles);
  if (!files) return std::move(files).failure();
  // What it says the id of can be used by it.
  request.shared.registry.add(*persona, outcome->sandbox);
  json::object out;
  out["id"] = outcome->sandbox;
  out["persona"] = *persona;
  out["files"] = *std::move(files);
  out["packages"] = packages_in(outcome->out.text());
  out["limits"] = limits_in(outcome->enforcement);
  out["expires_at"] = date_time_or_null(*got, "expires_ms");
  auto result = answer(out);
  if (result && !outcome->enforcement.empty()) {
    result->meta(json::print(json::object{{"bulkhead/enforcement", outcome->enforcement}}));
  }
  return result;
}

// A workspace that the operator named is somebody's project: emptying it takes the operator's word.
sdk::Status may_empty_workspace(Request& request) {
  if (request.shared.options.reset_workspace) return {};
  auto host = operate(request.call, "host.inspect", {});
  if (!host) return std::move(host).failure();
  const json::object* defaults = json::child(*host, "defaults");
  if (defaults == nullptr) return {};
  const std::string_view workspace = json::text(*defaults, "workspace");
  if (workspace.empty()) return {};
  return sdk::failure(BH_PERMISSION_DENIED,
                      "the workspace " + std::string(workspace) +
                          " is a folder of the user's own, and is not emptied",
                      "workspace_kept", "/level",
                      "reset packages alone, or let the operator set \"reset_workspace\": true in the "
                      "configuration of the toolset sandbox");
}

sdk::Result<sdk::ToolResult> sandbox_reset(Request& request) {
  const std::string level(json::text(request.args, "level", "files"));
  if (level != "packages") {
    if (auto st = may_empty_workspace(request); !st) return st.failure();
  }
  auto outcome = run_script(request, kReset, json::array{level});
  if (!outcome) return std::move(outcome).failure();
  if (*outcome->code != 0) {
    auto failed = answer(json::object{
        {"ok", false}, {"level", level}, {"error", "not all was removed: " + outcome->err.text()}});
    if (failed) failed->error();
    return failed;
  }
  if (level == "full") {
    // Its processes end with it; the next call makes a new one.
    auto ended = operate(request.call, "sandbox.kill", {{"sandbox", outcome->sandbox}});
    if (!ended) return std::move(ended).failure();
  }
  return answer(json::object{{"ok", true}, {"level", level}});
}

}  // namespace toolset_sandbox
