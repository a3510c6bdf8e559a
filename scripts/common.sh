# SPDX-License-Identifier: Apache-2.0
# Sourced by the other scripts: where things are, how to say something, how to stop.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=$(nproc)
python="$root/.venv/bin/python"

say() { printf '\n== %s\n' "$*" >&2; }

# One sentence that says what is missing and what to do, then the end.
die() {
  printf 'memtrace: %s\n' "$*" >&2
  exit 1
}
