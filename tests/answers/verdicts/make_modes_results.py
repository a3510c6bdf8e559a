# SPDX-License-Identifier: Apache-2.0
"""What each mode of recording (MEMTRACE=minimal, standard, full) finds of the corpus' leaks, and how
many censuses it takes for that. Writes MODES.md.

python tests/answers/verdicts/make_modes_results.py [--steps N] [--only NAME...] [--jobs N] [--into FILE]
"""

import argparse
import datetime
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "support")]

import judge  # noqa: E402
import recorded  # noqa: E402
import results_table  # noqa: E402
import runs  # noqa: E402
from corpus import CORPUS  # noqa: E402
from recorded import Run  # noqa: E402

MODES = ("minimal", "standard", "full")

HEAD = """# What each mode finds

{programs} of the corpus' {all} programs that accumulate or whose filling has to be explained, {steps} steps
each (more where the truth takes more), on the simulated GPU (PyTorch {torch}), in each of the modes of
`MEMTRACE` ([settings](../../../docs/settings.md)). What is true was written first ([RESULTS.md](RESULTS.md) says
how it is judged). Made by `tests/answers/verdicts/make_modes_results.py` on {date}.

A census stops the program for as long as it takes, so their time is that of the clock on the wall, on the
machine that made this table, which others use, too. `minimal` takes none: it names lines, and no path.
In `standard` they are taken only once memory has been seen to grow, when it runs out, and at the end.
"""


@dataclass
class Result:
    run: Run
    judged: judge.Judged | None = None
    failure: str = ""
    milliseconds: tuple[float, ...] = ()  # of each census
    cut_off: int = 0


def wanted(chosen) -> list[Run]:
    leaks = [truth for truth in CORPUS if judge.must_speak(truth)
             and (not chosen.only or truth.program in chosen.only)]
    return [Run(truth, max(chosen.steps, truth.min_steps), mode=mode)
            for truth in leaks for mode in MODES]


def censuses(run: Run) -> list[dict]:
    return [record for trace in runs.traces_in(run.folder) for record in runs.dump(trace, stacks=False)
            if record["kind"] == "census" and record["action"] == "end"]


def result_of(run: Run) -> Result:
    try:
        found = Result(run, judge.judge(recorded.report(run), run.truth, run.steps))
        taken = censuses(run)
        found.milliseconds = tuple(record["nanoseconds"] / 1e6 for record in taken)
        found.cut_off = sum(record["flags"] & 1 for record in taken)
    except Exception as error:  # one program that fails must not hide the others
        found = Result(run, failure=str(error)[-1500:] or repr(error))
    said = found.judged.said if found.judged else found.failure
    print(f"{run.name}: {said}; {len(found.milliseconds)} censuses", file=sys.stderr, flush=True)
    return found


def of_mode(results: list[Result], mode: str) -> list[Result]:
    return [one for one in results if one.run.mode == mode]


def totals(results: list[Result]) -> str:
    head = ["mode", "recall", "line first", "path right", "fix right", "censuses a run: median, most",
            "ms a census: median, most", "ms a run: median, most", "cut off"]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for mode in MODES:
        them = of_mode(results, mode)
        counts = [len(one.milliseconds) for one in them if one.judged]
        each = [ms for one in them for ms in one.milliseconds] or [0]
        sums = [sum(one.milliseconds) for one in them if one.judged]
        counted = results_table.counted(them)
        cells = [mode, *(results_table.share(counted, key)
                         for key in ("right", "culprit_first", "path_right", "remedy_right"))]
        cells += [f"{statistics.median(counts):.0f}, {max(counts)}",
                  f"{statistics.median(each):.1f}, {max(each):.1f}",
                  f"{statistics.median(sums):.1f}, {max(sums):.1f}", str(sum(one.cut_off for one in them))]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def cell(result: Result) -> str:
    if result.judged is None:
        return "failed"
    marks = [results_table.mark(result.judged, key) for key in ("right", "culprit_first", "path_right")]
    return " ".join(mark or "–" for mark in marks) + f", {len(result.milliseconds)}"


def table(results: list[Result]) -> str:
    lines = ["| program | steps | " + " | ".join(MODES) + " |", "| --- |" + " --- |" * (len(MODES) + 1)]
    for first in of_mode(results, MODES[0]):
        same = [next(one for one in of_mode(results, mode) if one.run.truth is first.run.truth)
                for mode in MODES]
        lines.append(f"| {first.run.truth.program} | {first.run.steps} | "
                     + " | ".join(cell(one) for one in same) + " |")
    return "\n".join(lines) + "\n"


def text_of(results: list[Result], steps: int) -> str:
    head = HEAD.format(programs=len(of_mode(results, MODES[0])), steps=steps,
                       all=sum(judge.must_speak(truth) for truth in CORPUS),
                       torch=results_table.torch_version(), date=datetime.date.today().isoformat())
    return (head + "\n" + totals(results) + "\nEach program: whether the verdict, the first line and the "
            "path are right (–: not asked), and how many censuses.\n\n" + table(results))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=Path, default=HERE / "MODES.md")
    parser.add_argument("--only", nargs="*", help="these programs")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    with ThreadPoolExecutor(chosen.jobs) as pool:
        results = list(pool.map(result_of, wanted(chosen)))
    chosen.into.write_text(text_of(results, chosen.steps))
    print(totals(results))
    return any(one.failure for one in results)


if __name__ == "__main__":
    sys.exit(main())
