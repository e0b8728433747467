#!/usr/bin/env bash
# Measures, and prints one JSON object; what each number is stands in README.md.
#
#   tests/bench/run.sh [BUILD_FOLDER]      default: build/release
#
# Nothing here passes or fails. Run it on a machine that does nothing else.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${1:-build/release}
[ -x "$build/tests/bench/bench_calls" ] || {
  echo "bench: $build/tests/bench/bench_calls is not built: tests/run.sh --flavour release builds it" >&2
  exit 2
}
PYTHONDONTWRITEBYTECODE=1 exec python3 tests/bench/measure.py "$build"
