#!/bin/sh
# as_user.sh PROGRAM [ARGUMENTS]: runs a test program as the user nobody when we are root, which takes
# other ways through the isolation backends. An ordinary user has run it already.
if [ "$(id -u)" != 0 ]; then
  echo "BH_SKIPPED ${1##*/} as another user: not started by root"
  exit 0
fi
home=$(mktemp -d /var/tmp/bulkhead-test-user-XXXXXX)
trap 'rm -rf "$home"' EXIT
chown 65534:65534 "$home"
if ! setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$1"; then
  echo "BH_SKIPPED ${1##*/} as another user: it cannot reach $1"
  exit 0
fi
scratch=$(dirname "$1")/scratch
mkdir -p "$scratch" && chmod 1777 "$scratch"
cd "$home" || exit 1
env -u XDG_RUNTIME_DIR HOME="$home" TMPDIR="$home" \
  setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
