# SPDX-License-Identifier: Apache-2.0
# Sourced by the other scripts: where things are, how to say something, how to stop.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=$(nproc)
python="$root/.venv/bin/python"

say() { printf '\n== %s\n' "$*" >&2; }

# start LOG COMMAND…: beside what follows, in a process group of its own. The script's end ends it.
started=()
start() {
  set -m
  "${@:2}" >"$1" 2>&1 </dev/null &
  set +m
  started+=($!)
  trap end_started EXIT
}

end_started() {
  local group
  for group in ${started[@]:+"${started[@]}"}; do kill -- "-$group" 2>/dev/null || true; done
}

# One sentence that says what is missing and what to do, then the end.
die() {
  printf 'memtrace: %s\n' "$*" >&2
  exit 1
}
