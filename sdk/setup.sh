#!/usr/bin/env bash
# Installs what building and running Bulkhead needs, on Debian 12, Debian 13 and Ubuntu 24.04.
#
#   sdk/setup.sh             what it takes to build and run (the same as --runtime)
#   sdk/setup.sh --tests     that, and what the tests need beside it
#   sdk/setup.sh --list      prints the packages for this system and installs nothing
#
# Quick and silent where nothing is missing. Needs root or sudo only where something is.
set -euo pipefail

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

tests=no list=no
for option in "$@"; do
  case $option in
    --runtime) ;;
    --tests) tests=yes ;;
    --list) list=yes ;;
    -h | --help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) fail "unknown option $option; it takes --runtime, --tests and --list" ;;
  esac
done

# Names that differ by release. The release is the one whose packages are served, so that a
# derivative (VERSION_CODENAME of its own, UBUNTU_CODENAME of its parent) is known too.
release=$(. /etc/os-release 2>/dev/null && echo "${UBUNTU_CODENAME:-${VERSION_CODENAME:-unknown}}" || echo unknown)
case $release in
  bookworm) boost=libboost1.81-dev clang_major=14 ;;
  trixie) boost=libboost1.83-dev clang_major=19 ;;
  noble) boost=libboost1.83-dev clang_major=18 ;;
  *) boost='' clang_major='' ;;
esac

# Found by program, whoever installed it: "program package".
programs=(
  "g++ g++" "cmake cmake" "ninja ninja-build" "ccache ccache" "bwrap bubblewrap" "python3 python3"
)
packages=(
  "$boost" libexpected-dev libspdlog-dev libcli11-dev libre2-dev libssl-dev libseccomp-dev
  libsqlite3-dev libarchive-dev
)
if [ $tests = yes ]; then
  programs+=("git git" "clang++ clang" "node nodejs" "npm npm" "ps procps" "pkg-config pkg-config")
  programs+=("go golang-go" "debootstrap debootstrap")
  packages+=(catch2 libvalijson-dev "libclang-rt-$clang_major-dev")
  # The release's own, also beside a newer Rust in PATH: the binding is built with both.
  packages+=(rustc cargo)
fi

# Tests are skipped without these, so nothing fails where they cannot be had: other kernels in machines
# under emulation, and users with ranges of ids.
optional=()
if [ $tests = yes ] && [ "$(uname -m)" = x86_64 ]; then
  case $release in
    bookworm | trixie)
      optional=("qemu-system-x86_64 qemu-system-x86" "busybox busybox-static" "mke2fs e2fsprogs") ;;
  esac
fi
[ $tests = no ] || optional+=("newuidmap uidmap")

missing=()
for pair in "${programs[@]}"; do
  command -v "${pair%% *}" >/dev/null || missing+=("${pair##* }")
done

if [ -z "$boost" ] || ! command -v apt-get >/dev/null; then
  # Anything else is the user's to provide; what can be checked is whether it is there.
  [ "${BULKHEAD_SETUP:-}" = skip ] && [ ${#missing[@]} = 0 ] && exit 0
  fail "knows Debian 12, Debian 13 and Ubuntu 24.04: elsewhere install a C++20 compiler, CMake 3.25," \
    "Ninja, Python 3, bubblewrap, Boost 1.81 or later, tl-expected, spdlog, CLI11, RE2, OpenSSL," \
    "libseccomp, libarchive and SQLite 3.38 with their headers (for the tests also Catch2, valijson, clang, Node.js and Go)" \
    "and start again with BULKHEAD_SETUP=skip${missing[*]:+ (not found here: ${missing[*]})}"
fi

if [ $list = yes ]; then
  printf '%s\n' "${programs[@]##* }" "${packages[@]}" ${optional[@]+"${optional[@]##* }"}
  exit 0
fi

installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "${packages[@]}" 2>/dev/null |
  sed -n 's/^ii  *//p' || true)
for package in "${packages[@]}"; do
  grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done
# A Python without ensurepip cannot make the environments of the client tests.
if [ $tests = yes ] && ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
  missing+=(python3-venv)
fi
wanted=()
for pair in ${optional[@]+"${optional[@]}"}; do
  command -v "${pair%% *}" >/dev/null || [ -x "/usr/sbin/${pair%% *}" ] || wanted+=("${pair##* }")
done
[ ${#missing[@]} -gt 0 ] || [ ${#wanted[@]} -gt 0 ] || exit 0

apt=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 -y -q)
if [ "$(id -u)" != 0 ]; then
  # What tests are merely skipped without is no reason to stop.
  if ! command -v sudo >/dev/null && [ ${#missing[@]} = 0 ]; then exit 0; fi
  command -v sudo >/dev/null ||
    fail "needs root to install packages: run \"apt-get install --no-install-recommends ${missing[*]}\" as root and start again"
  apt=(sudo "${apt[@]}")
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
started=$SECONDS
all=("${missing[@]}" "${wanted[@]}")
say "installing ${#all[@]} packages: ${all[*]}"
# A list that cannot be refreshed is not yet a reason to stop: what is on disk may do.
"${apt[@]}" update >"$log" 2>&1 </dev/null || say "the package lists could not be refreshed; going on with those at hand"
if [ ${#missing[@]} -gt 0 ] &&
  ! "${apt[@]}" install --no-install-recommends "${missing[@]}" >"$log" 2>&1 </dev/null; then
  tail -n 15 "$log" >&2
  fail "apt-get could not install them (its last lines are above); mend that and start again"
fi
if [ ${#wanted[@]} -gt 0 ] &&
  ! "${apt[@]}" install --no-install-recommends "${wanted[@]}" >"$log" 2>&1 </dev/null; then
  say "without ${wanted[*]}, which apt-get could not install: the tests that need them are skipped"
fi
say "done in $((SECONDS - started)) s"
