# SPDX-License-Identifier: Apache-2.0
"""Sets memtrace's advice beside what changed programs really need; writes RESULTS.md.

python tests/answers/advice/make_results.py [--into FILE] [--only NAME...] [--jobs N] [--recorded] [--set NAME]
"""

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "support")]

import advice_judge  # noqa: E402
import advice_runs  # noqa: E402
import advice_table  # noqa: E402
from advice_corpus import SETS  # noqa: E402
from known_remedy import measured  # noqa: E402
from measure_changes import Wanted  # noqa: E402


def report_of(truth, any_library: bool):
    try:
        return advice_runs.report(truth, any_library)
    except Exception as error:  # one program that fails must not hide the others
        print(f"{truth.name}: {error}"[-1500:], file=sys.stderr, flush=True)
        return None


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=Path, help="default: that of the set")
    parser.add_argument("--only", nargs="*", help="these programs")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--recorded", action="store_true", help="judge what any library has recorded")
    parser.add_argument("--set", choices=SETS, default="corpus")
    chosen = parser.parse_args()
    programs, file, table, notes = SETS[chosen.set]
    truths = [truth for truth in programs if not chosen.only or truth.program in chosen.only]
    with ThreadPoolExecutor(chosen.jobs) as pool:
        reports = list(pool.map(lambda truth: report_of(truth, chosen.recorded), truths))
    said = [(truth, report) for truth, report in zip(truths, reports) if report is not None]
    changed = advice_runs.Changed(measured(file))
    changed.run([Wanted(truth, change) for truth, report in said
                 for change in advice_judge.wanted_changes(report, truth)])
    judged = [advice_judge.judge(report, truth, changed) for truth, report in said]
    into = chosen.into or HERE / table
    into.write_text(advice_table.text_of(judged, (HERE / notes).read_text()))
    print(advice_table.totals(judged))
    return len(said) != len(truths)


if __name__ == "__main__":
    sys.exit(main())
