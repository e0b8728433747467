#!/usr/bin/env bash
# The server under unmodified clients from the registries; see README.md.
#
#   tests/clients/run.sh [BUILD_FOLDER]      default: $BH_BUILD_DIR, else build/release, else build/dev
#
# Ends with "N passed, N failed, N skipped"; the exit code is 0 when nothing failed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)

build=${1:-${BH_BUILD_DIR:-}}
if [ -z "$build" ]; then
  build=$top/build/release
  [ -x "$build/bin/bulkhead" ] || build=$top/build/dev
fi
[ -x "$build/bin/bulkhead" ] || { echo "clients: there is no $build/bin/bulkhead; build it first" >&2; exit 2; }
build=$(cd "$build" && pwd)
program=$build/bin/bulkhead
stage=$build/clients
mkdir -p "$stage"

passed=0 failed=0 skipped=0
skip() { echo "BH_SKIPPED $1: $2"; skipped=$((skipped + 1)); }
clients=$here # read by packages.sh
# shellcheck source=tests/clients/packages.sh
source "$here/packages.sh"

install_python() {
  rm -rf "$stage/python"
  python3 -m venv "$stage/python" &&
    "$stage/python/bin/pip" install --disable-pip-version-check --quiet -r "$here/python/requirements.txt"
}
# The sample plugin as its author builds it: against an installed tree.
build_echo() {
  rm -rf "$stage/prefix" "$stage/echo"
  cmake --install "$build" --prefix "$stage/prefix" &&
    cmake -S "$top/samples/plugin_c" -B "$stage/echo" -DCMAKE_PREFIX_PATH="$stage/prefix" \
      -DCMAKE_BUILD_TYPE=Release &&
    cmake --build "$stage/echo"
}

# Adds up what a client's script says of its cases, and shows it.
run_client() {
  local name=$1
  shift
  local workspace=$stage/run/$name/workspace log=$stage/$name.out counts
  rm -rf "$stage/run/$name"
  mkdir -p "$workspace" "$stage/run/$name/home/.config/bulkhead"
  echo '{"toolsets": {"config": {"sandbox": {"aliases": true, "extras": true}}}}' \
    >"$stage/run/$name/home/.config/bulkhead/config.json"
  (
    cd "$workspace"
    unset "${!BH_@}" "${!XDG_@}"
    export HOME=$stage/run/$name/home BH_PLUGIN_PATH=$plugins
    exec timeout -k 10 600 "$@" "$program" "$workspace"
  ) >"$log" 2>&1 </dev/null || true
  counts=$(sed -n 's/^counts \([0-9]* [0-9]* [0-9]*\)$/\1/p' "$log" | tail -n 1)
  grep -v '^counts ' "$log" || true
  if [ -z "$counts" ]; then
    echo "not ok $name: it did not come to its end"
    failed=$((failed + 1))
    return
  fi
  local p f s
  read -r p f s <<<"$counts"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

plugins=
if [ -f "$top/samples/plugin_c/CMakeLists.txt" ] &&
  set_up echo "$top"/samples/plugin_c/* "$build/lib/libbulkhead.so" -- build_echo; then
  manifest=$(find "$stage/echo" -name plugin.json -not -path '*/CMakeFiles/*' | head -n 1)
  # The search path names the folder that holds plugins' folders.
  [ -z "$manifest" ] || plugins=$(dirname "$(dirname "$manifest")")
fi

if ! command -v npm >/dev/null; then
  skip "clients typescript" "npm is missing"
  skip "clients inspector" "npm is missing"
elif ! set_up_node; then
  skip "clients typescript" "its packages could not be installed"
  skip "clients inspector" "its packages could not be installed"
else
  cp "$here"/node/*.mjs "$stage/node/"
  run_client typescript "$(pinned_node)" "$stage/node/sdk_client.mjs"
  run_client inspector "$(pinned_node)" "$stage/node/inspector.mjs"
fi

if ! set_up python "$here/python/requirements.txt" -- install_python; then
  skip "clients python" "its packages could not be installed"
else
  run_client python "$stage/python/bin/python" "$here/python/sdk_client.py"
  run_client opensandbox "$stage/python/bin/python" "$here/python/opensandbox_client.py"
  run_client tool "$stage/python/bin/python" "$here/python/tool_client.py"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
