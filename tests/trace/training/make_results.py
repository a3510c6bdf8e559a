# SPDX-License-Identifier: Apache-2.0
"""Compares every program under every setting with PyTorch's record; writes RESULTS.md.

python tests/trace/training/make_results.py [--into FILE] [PROGRAM...]
"""

import argparse
import datetime
import json
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "support")]

import matrix  # noqa: E402
import runs  # noqa: E402

HEAD = """# The trace beside PyTorch's own record

Each program ran once with both PyTorch's recorder (`_record_memory_history(context="all",
stacks="python")`) and libmemtrace.so in the same process, {where}, torch {torch}.
Compared without tolerance: every event's action, address, requested size and stream (2.11 records no pool); the file,
line and function of every Python frame of every event; the allocator's own totals at every
allocation and free against the sums of the recorded events; peaks, currents and counts against
`memory_stats()` and `memtrace report`; segments and blocks at the end, with their private pools,
against the snapshot. Made by `tests/trace/training/make_results.py` on {date}.

| program | setting | events | streams | deferred frees | different events | frames | different stacks | totals | different totals | peak allocated | peak reserved | different statistics |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""


def row(program: str, setting: str, run: matrix.Run) -> str:
    found = run.found
    stats = run.truth["memory_stats"][0]
    cells = [
        program, setting, found.events, found.streams, found.deferred,
        found.missing + found.extra + found.different, found.frames, found.different_stacks,
        found.totals, found.different_totals, stats["allocated_bytes.all.peak"],
        stats["reserved_bytes.all.peak"], len(found.different_stats),
    ]
    return "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells) + " |"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=Path, default=HERE / "RESULTS.md")
    parser.add_argument("--json", type=Path)
    parser.add_argument("programs", nargs="*", default=matrix.PROGRAMS)
    chosen = parser.parse_args()
    rows, failures, facts, torch = [], [], [], "?"
    for program in chosen.programs or matrix.PROGRAMS:
        for setting in matrix.SETTINGS:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    run = matrix.run_one(program, setting, Path(folder))
                except Exception as error:  # one program that fails must not hide the others
                    failures.append(f"{program}, {setting.name}: {str(error)[-1500:]}")
                    print(f"{program} {setting.name}: failed\n{error}", file=sys.stderr)
                    rows.append(f"| {program} | {setting.name} | failed |" + " |" * 10)
                    continue
            torch = run.truth["torch"]
            rows.append(row(program, setting.name, run))
            facts.append({"program": program, "setting": setting.name, **vars(run.found)})
            print(rows[-1], *run.found.shown, sep="\n  ", file=sys.stderr)
            failures += [f"{program}, {setting.name}: {text}" for text in run.found.shown]
    where = "on this machine's GPU" if runs.on_real_gpu() else f"on the simulated {runs.GPU}"
    text = HEAD.format(where=where, torch=torch, date=datetime.date.today().isoformat())
    text += "\n".join(rows) + "\n"
    if failures:
        text += "\n## What differs\n\n" + "\n".join(f"- {item}" for item in failures) + "\n"
    chosen.into.write_text(text)
    if chosen.json:
        chosen.json.write_text(json.dumps({"torch": torch, "runs": facts, "failures": failures}, indent=1))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
