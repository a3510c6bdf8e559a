# SPDX-License-Identifier: Apache-2.0
"""Writes RESULTS.md: exported snapshots beside PyTorch's own, and what both cost.

python tests/snapshot/make_results.py [--events 100000,1000000] [CASE...]

MEMTRACE_MEMORY_VIZ names the viewer's folder (viewer.py); without it the viewer's columns are empty."""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]

import made  # noqa: E402
import runs  # noqa: E402
import snapshots  # noqa: E402
import viewer  # noqa: E402

HEAD = """# Exported snapshots beside PyTorch's own

Made by `tests/snapshot/make_results.py` on {date}, {where}.

## What is in them

Each program ran once with PyTorch's recorder and libmemtrace.so in the same process, which was killed right after PyTorch's
snapshot, so that both end at the same event. Compared exactly: the order of the events of each device, their action,
address, size, stream, and Python frames; segments and blocks with all sizes, states, streams and pools; the settings.
*shapes* are the polygons that PyTorch's own viewer draws of both files in a browser, in its three timelines, and *moments*
what it says at the first, the middle and the last event; the console stayed empty.

| program | events | with frames | segments | blocks | different | exported | PyTorch's | shapes | different | moments different |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""
INTENT = """
What differs by intent, and is checked to be so and not otherwise:
{intent}
"""
COST = """
## What they cost

The training of `bench/page_training.py`. PyTorch's time is that of `_dump_snapshot()` alone, in the program; memtrace's is
that of the whole command, which reads the trace twice and finds out what each block was.

| events | PyTorch's file | PyTorch's time | trace | exported file | export's time | export's peak memory | Python reads it in |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""
THREE = (viewer.TIMELINE, viewer.POOLS, viewer.SEGMENTS)


def in_viewer(run: made.Run) -> tuple:
    """How many shapes, how many of them differ, and how many moments."""
    from test_viewer import seen_in
    devices = [index for index, events in enumerate(run.truth["device_traces"]) if events]
    theirs, ours = seen_in(run.truth_file, devices), seen_in(run.file, devices)
    shapes = different = moments = 0
    for device in devices:
        for name in THREE:
            one, other = ([shape["points"] for shape in seen[name, device]] for seen in (ours, theirs))
            shapes += len(one)
            different += sum(a != b for a, b in zip(one, other)) + abs(len(one) - len(other))
        moments += sum(a != b for a, b in zip(ours["moments", device], theirs["moments", device]))
    return shapes, different, moments


def case_row(case: str) -> tuple[str, list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        run = made.run(case, Path(folder))
        found = snapshots.compare(run.truth, run.exported)
        cells = [case, found.events, found.with_frames, found.segments, found.blocks, found.different,
                 f"{run.file.stat().st_size / 1e3:,.0f} kB", f"{run.truth_file.stat().st_size / 1e3:,.0f} kB"]
        cells += in_viewer(run) if os.environ.get("MEMTRACE_MEMORY_VIZ") else ["–"] * 3
    row = "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells) + " |"
    return row, [f"{case}: {text}" for text in found.shown]


def seconds_to_read(file: Path) -> float:
    begin = time.perf_counter()
    snapshots.load(file)
    return time.perf_counter() - begin


def timed_export(trace: Path, into: Path) -> tuple[float, int]:
    """Seconds, and the most memory that the command had, in bytes."""
    begin = time.perf_counter()
    command = [str(runs.memtrace()), "export", str(trace), "--format", "snapshot", "-o", str(into)]
    child = subprocess.Popen(command, env=runs.environment(), stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    assert status == 0, command
    return time.perf_counter() - begin, used.ru_maxrss * 1024


def cost_row(events: int) -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        truth, exported = folder / "truth.pickle", folder / "exported.pickle"
        done = runs.run([runs.python(), HERE / "programs/timed_snapshot.py", str(events), truth], folder / "trace",
                        timeout=3600).expect(0)
        said = json.loads(done.stdout.decode().split("RESULT ")[1])
        trace, = runs.traces_in(folder / "trace")
        taken, most = timed_export(trace, exported)
        found = sum(map(len, snapshots.load(exported)["device_traces"]))
        return (f"| {found:,} | {truth.stat().st_size / 1e6:.1f} MB | {said['seconds']:.1f} s | "
                f"{trace.stat().st_size / 1e6:.1f} MB | {exported.stat().st_size / 1e6:.1f} MB | {taken:.1f} s | "
                f"{most / 1e6:.0f} MB | {seconds_to_read(exported):.1f} s |")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=Path, default=HERE / "RESULTS.md")
    parser.add_argument("--events", default="100000,1000000")
    parser.add_argument("cases", nargs="*", default=list(made.CASES))
    chosen = parser.parse_args()
    rows, failures = [], []
    for case in chosen.cases or list(made.CASES):
        row, found = case_row(case)
        print(row, file=sys.stderr)
        rows.append(row)
        failures += found
    where = "on this machine's GPU" if runs.on_real_gpu() else f"on the simulated {runs.GPU}"
    text = HEAD.format(date=datetime.date.today().isoformat(), where=where) + "\n".join(rows) + "\n"
    text += INTENT.format(intent=snapshots.DIFFERENT_BY_INTENT)
    costs = [cost_row(int(events)) for events in chosen.events.split(",") if events]
    if costs:
        text += COST + "\n".join(costs) + "\n"
    if failures:
        text += "\n## What differs\n\n" + "\n".join(f"- {item}" for item in failures) + "\n"
    chosen.into.write_text(text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
