#!/bin/sh
# as_made_user.sh PROGRAM [ARGUMENTS]: runs it as an ordinary user that is made for it, with ranges of
# subordinate ids where the system gives them, and removed again. Where none can be made, as nobody.
user=bulkhead-escape
here=$(cd "$(dirname "$0")" && pwd)
if [ "$(id -u)" != 0 ]; then
  echo "BH_SKIPPED ${1##*/} as another user: not started by root"
  exit 0
fi
exec 9> /run/lock/$user.lock && flock 9
home=$(mktemp -d /var/tmp/bulkhead-escape-user-XXXXXX)
trap 'userdel $user 2>/dev/null; rm -rf "$home"' EXIT
userdel $user 2>/dev/null
if ! useradd --no-create-home --home-dir "$home" --shell /bin/sh $user 2>/dev/null; then
  rm -rf "$home"
  flock -u 9
  exec "$here/../support/as_user.sh" "$@"
fi
chown $user "$home"
ids=$(id -u $user):$(id -g $user)
if ! setpriv --reuid "${ids%:*}" --regid "${ids#*:}" --clear-groups test -x "$1"; then
  echo "BH_SKIPPED ${1##*/} as another user: it cannot reach $1"
  exit 0
fi
scratch=$(dirname "$1")/scratch
mkdir -p "$scratch" && chmod 1777 "$scratch"
cd "$home" || exit 1
env -u XDG_RUNTIME_DIR HOME="$home" TMPDIR="$home" USER=$user \
  setpriv --reuid "${ids%:*}" --regid "${ids#*:}" --clear-groups "$@" 9>&-
