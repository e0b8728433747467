#!/usr/bin/env bash
# From a bare Debian or Ubuntu machine to an agent's session in isolation, in one command.
#
#   ./samples/quickstart.sh
#
# Installs what is missing (root or sudo), builds the release preset, plays one session through the
# real MCP server, and ends with the lines for your MCP client. Nothing is installed outside this
# checkout but packages; everything else lies in build/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
top=$PWD
started=$SECONDS

bold='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\033[1m' plain=$'\033[0m'; fi
heading() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
fail() { printf '\nquickstart: %s\n' "$*" >&2; exit 1; }

heading "Set-up"
./sdk/setup.sh --runtime
setup_seconds=$((SECONDS - started))
echo "   everything it takes is here ($setup_seconds s)"

heading "Build"
build_started=$SECONDS
mkdir -p build
log=build/quickstart-build.log
# Objects are shared between checkouts, and with what tests/run.sh builds.
export CCACHE_BASEDIR=$top CCACHE_NOHASHDIR=1
cores=$(nproc)
memory_jobs=$(awk '/^MemAvailable:/ { print int($2 / 1500000) }' /proc/meminfo)
jobs=$((memory_jobs < 1 ? 1 : memory_jobs < cores ? memory_jobs : cores))
# A line each tenth of the way; the whole of it is in the log.
show_progress() {
  local line done all shown=0 tenth
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
      done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
      tenth=$((done * 10 / all))
      if [ "$tenth" -gt "$shown" ] && [ "$all" -ge 20 ]; then
        shown=$tenth
        printf '   %3d %%  (%d of %d, %d s)\n' $((tenth * 10)) "$done" "$all" $((SECONDS - build_started))
      fi
    fi
  done
}
cmake --preset release -DBH_BUILD_TESTS=OFF >"$log" 2>&1 || { tail -n 20 "$log"; fail "cmake could not configure; the log is $log"; }
if ! cmake --build --preset release -j "$jobs" 2>&1 </dev/null | show_progress; then
  grep -E 'error|FAILED' "$log" | head -n 20
  fail "the build failed; the log is $log"
fi
echo "   build/release/bin/bulkhead is up to date ($((SECONDS - build_started)) s)"

heading "One agent's session, through the MCP server"
PYTHONDONTWRITEBYTECODE=1 python3 samples/quickstart/session.py build/release/bin/bulkhead build/quickstart

printf '   %7d s  with set-up and build\n' $((SECONDS - started))
heading "To use it, paste this into your MCP client's configuration"
cat <<LINES
{
  "mcpServers": {
    "bulkhead": {
      "command": "$top/build/release/bin/bulkhead",
      "args": ["mcp", "--workspace", "/the/folder/your/agent/works/in"]
    }
  }
}
LINES
