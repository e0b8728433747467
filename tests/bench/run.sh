#!/usr/bin/env bash
# Measures, and prints one JSON object; what each number is stands in README.md.
#
#   tests/bench/run.sh [BUILD_FOLDER]      default: build/release
#
# A goal that is missed fails nothing, a wrong answer does. Run it on a machine that does nothing else.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${1:-build/release}
for program in bench_calls bench_load bench_sandboxes; do
  [ -x "$build/tests/bench/$program" ] || {
    echo "bench: $build/tests/bench/$program is not built: tests/run.sh --flavour release builds it" >&2
    exit 2
  }
done
build=$(cd "$build" && pwd)

clients=$PWD/tests/clients
stage=$build/clients # where tests/clients has them, too
mkdir -p "$stage"
# shellcheck source=tests/clients/packages.sh
source "$clients/packages.sh"
why_not=
if ! command -v npm >/dev/null; then
  why_not="npm is missing, so there is no server of the TypeScript SDK to compare with"
elif ! set_up_node >&2; then
  why_not="the packages of the TypeScript SDK could not be installed; see clients/node.log in the build folder"
else
  cp tests/bench/echo_server.mjs "$stage/node/"
fi
PYTHONDONTWRITEBYTECODE=1 exec python3 tests/bench/measure.py "$build" "$(pinned_node)" \
  "$stage/node/echo_server.mjs" "$why_not"
