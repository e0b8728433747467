#!/usr/bin/env bash
# Sets up and runs every test; what is counted and how is in tests/README.md.
#
#   tests/run.sh                              everything
#   tests/run.sh --flavour release            one flavour: release, asan, tsan, fuzz or lint
#   tests/run.sh --filter loader              the programs and suites with "loader" in their name
#
# The last line is "N passed, N failed, N skipped"; the exit code is 0 when nothing failed and
# something passed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! ./sdk/setup.sh --tests </dev/null; then
  printf '\n0 passed, 1 failed, 0 skipped\n'
  exit 1
fi
# The tree may belong to somebody else than who tests it (a CI's checkout, run by root).
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0="$PWD"
exec python3 tests/support/runner "$@" </dev/null
