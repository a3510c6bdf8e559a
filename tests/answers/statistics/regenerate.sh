#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Writes RESULTS.md anew: the study on its held-out seeds. Some 15 seconds.
# Usage: tests/answers/statistics/regenerate.sh [BUILD]     BUILD: a build directory, build/release if not given
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
build=${1:-$root/build/release}
results=$root/tests/answers/statistics/RESULTS.md

cmake --build "$build" --target study
{
  cat <<'TEXT'
# Growth verdicts on synthetic series

Written by `tests/answers/statistics/regenerate.sh`. The generator (`generator.cpp`) shares no code with the
detector (`analyzer/base/statistics`); what it draws, and what the numbers mean, is in `docs/growth.md`. The
detector was tuned on other seeds; since these were first run nothing changed that decides between
leak and no leak. A leak is `accumulating`, `stepwise` or `sawtooth_leak`; any other verdict on one,
`unknown` included, counts as missed.

TEXT
  "$(find "$build" -name study -type f -perm -u+x | head -1)" --series 2000 --seeds held-out
} >"$results.new"
mv "$results.new" "$results"
echo "wrote $results"
