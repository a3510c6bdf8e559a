# SPDX-License-Identifier: Apache-2.0
"""Sets memtrace's verdicts beside the truth for every program of the corpus; writes RESULTS.md.

python tests/answers/verdicts/make_results.py [--into FILE] [--only NAME...] [--steps N...] [--seeds N...]
                                      [--jobs N] [--recorded] [--runs-only] [--held-out]
                                      [--short-runs short | second | third | fourth | fifth | sixth | seventh | eighth |
                                      ninth | tenth | eleventh | twelfth]
                                      [--default-mode]
"""

import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "support")]

import held_out_table  # noqa: E402
import judge  # noqa: E402
import recorded  # noqa: E402
import results_table  # noqa: E402
import short_runs_table  # noqa: E402
from corpus import CORPUS, HELD_OUT, SETS_OF_SHORT_RUNS  # noqa: E402
from recorded import Run  # noqa: E402


@dataclass
class Result:
    run: Run
    judged: judge.Judged | None = None
    failure: str = ""


def programs_of(chosen) -> list:
    if chosen.short_runs:
        return SETS_OF_SHORT_RUNS[chosen.short_runs]
    if chosen.held_out:
        return HELD_OUT
    return [*CORPUS, *HELD_OUT] if chosen.default_mode else CORPUS


def wanted(chosen) -> list[Run]:
    """All lengths with the first seed, the others with one length; the shortest first."""
    runs = []
    for truth in programs_of(chosen):
        if chosen.only and truth.program not in chosen.only:
            continue
        lengths = [steps for steps in truth.steps if not chosen.steps or steps in chosen.steps]
        runs += [Run(truth, steps, chosen.seeds[0]) for steps in lengths]
        if 100 in lengths:
            runs += [Run(truth, 100, seed) for seed in chosen.seeds[1:]]
    return sorted(runs, key=lambda run: run.steps)


def result_of(run: Run, any_library: bool, runs_only: bool) -> Result:
    try:
        if runs_only:
            recorded.known(run) or recorded.record(run)
            return Result(run)
        found = Result(run, judge.judge(recorded.report(run, any_library), run.truth, run.steps))
    except Exception as error:  # one program that fails must not hide the others
        found = Result(run, failure=str(error)[-1500:] or repr(error))
    if not results_table.good(found):
        print(f"{run.name}: {found.failure or found.judged.said}", file=sys.stderr, flush=True)
    return found


def revision() -> str:
    """Of what the verdicts come from."""
    line = ["git", "-C", HERE.parents[2], "log", "-1", "--format=%h", "--", "analyzer", "interpose", "simulator"]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=Path, help="default: RESULTS.md, or the file of the option given")
    parser.add_argument("--only", nargs="*", help="these programs")
    parser.add_argument("--steps", type=int, nargs="*", help="these lengths only")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--recorded", action="store_true", help="judge what any library has recorded")
    parser.add_argument("--runs-only", action="store_true", help="only record")
    parser.add_argument("--held-out", action="store_true", help="the programs of held_out.py")
    parser.add_argument("--short-runs", choices=list(SETS_OF_SHORT_RUNS), help="a set of short runs: its file")
    parser.add_argument("--default-mode", action="store_true", help="all programs, once each: DEFAULT_MODE.md")
    chosen = parser.parse_args()
    if chosen.default_mode:
        chosen.steps, chosen.seeds = [100], [0]
    with ThreadPoolExecutor(chosen.jobs) as pool:
        results = list(pool.map(
            lambda run: result_of(run, chosen.recorded, chosen.runs_only), wanted(chosen)))
    if chosen.runs_only:
        return any(one.failure for one in results)
    if chosen.short_runs:
        shown = short_runs_table.SETS[chosen.short_runs]
        name, text = shown.file, short_runs_table.text_of(results, revision(), shown)
    elif chosen.held_out:
        name, text = "HELD_OUT.md", held_out_table.text_of(results, revision())
    elif chosen.default_mode:
        name, text = "DEFAULT_MODE.md", results_table.text_of(results, results_table.DEFAULT_MODE_HEAD)
    else:
        name, text = "RESULTS.md", results_table.text_of(results)
    (chosen.into or HERE / name).write_text(text)
    print(results_table.totals(results))
    return any(one.failure for one in results)


if __name__ == "__main__":
    sys.exit(main())
