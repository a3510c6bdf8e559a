# SPDX-License-Identifier: Apache-2.0
"""Sets what memtrace says of each program of the corpus beside the truth; writes RESULTS.md.

python tests/answers/verdicts/make_results.py [--sets SET...] [--only NAME...] [--steps N...] [--seeds N...]
                                      [--mode MODE] [--jobs N]

With any of these (but --jobs) the table is printed, and no file is written: RESULTS.md has all programs as CI runs them.
--steps has lengths that a program may have; a run that is too short for its truth is not counted. --mode is MEMTRACE's.
"""

import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "support")]

import results_table  # noqa: E402
from corpus import CORPUS, SETS  # noqa: E402
from judged import Run, result_of  # noqa: E402


def wanted(chosen) -> list[Run]:
    truths = [truth for truth in CORPUS if (not chosen.sets or truth.set in chosen.sets)
              and (not chosen.only or truth.name in chosen.only)]
    return [Run(truth, steps, seed, chosen.mode) for truth in truths for seed in chosen.seeds or [0]
            for steps in (truth.lengths if chosen.steps else (truth.steps,))
            if not chosen.steps or steps in chosen.steps]


def revision() -> str:
    """The last change of what the verdicts come from."""
    line = ["git", "-C", HERE.parents[2], "log", "-1", "--format=%h", "--", "analyzer", "interpose", "simulator"]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=list(SETS))
    parser.add_argument("--only", nargs="+", help="these programs")
    parser.add_argument("--steps", type=int, nargs="+", help="these lengths only")
    parser.add_argument("--seeds", type=int, nargs="+")
    parser.add_argument("--mode", choices=["minimal", "standard", "full"], default="")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    with ThreadPoolExecutor(chosen.jobs) as pool:
        results = list(pool.map(result_of, wanted(chosen)))
    if chosen.sets or chosen.only or chosen.steps or chosen.seeds or chosen.mode:
        print(results_table.table(results_table.rows_of(results, revision())) + "\n" + results_table.wrongs(results))
    else:
        (HERE / "RESULTS.md").write_text(results_table.text_of(results, revision()))
    return any(one.failure for one in results)


if __name__ == "__main__":
    sys.exit(main())
