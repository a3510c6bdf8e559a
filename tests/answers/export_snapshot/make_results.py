# SPDX-License-Identifier: Apache-2.0
"""Writes RESULTS.md: exported snapshots beside PyTorch's own, and what both cost.

python tests/answers/export_snapshot/make_results.py [--events 100000,1000000] [--trace LARGE.mtrace] [--costs-only] [CASE...]

--trace       a recording that is there already, of which PyTorch has no snapshot: ten million events take more memory in its
              recorder than most machines have
--costs-only  leaves what RESULTS.md says of the comparison
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
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "support")]

import made  # noqa: E402
import runs  # noqa: E402
import snapshots  # noqa: E402
import viewer  # noqa: E402

HEAD = """# Exported snapshots beside PyTorch's own

Made by `tests/answers/export_snapshot/make_results.py` on {date}, {where}.

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
that of the whole command, which reads the trace more than once and finds out what each block was. *Machine: {machine}*

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


def read_in_another_process(file: Path) -> tuple[float, int]:
    """Seconds, and how many events there are."""
    program = ("import pickle, sys, time; begin = time.perf_counter(); found = pickle.load(open(sys.argv[1], 'rb'));"
               "print(time.perf_counter() - begin, sum(map(len, found['device_traces'])))")
    done = subprocess.run([sys.executable, "-c", program, str(file)], check=True, capture_output=True, text=True)
    seconds, events = done.stdout.split()
    return float(seconds), int(events)


def timed_export(trace: Path, into: Path) -> tuple[float, int]:
    """Seconds, and the most memory that the command had, in bytes; started by a small process, since a child's peak begins
    with that of who started it."""
    program = ("import resource, subprocess, sys, time; begin = time.perf_counter();"
               "subprocess.run(sys.argv[1:], check=True, stderr=subprocess.DEVNULL); taken = time.perf_counter() - begin;"
               "print(taken, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    command = [str(runs.memtrace()), "export", str(trace), "--format", "snapshot", "-o", str(into)]
    done = subprocess.run([sys.executable, "-c", program, *command], check=True, capture_output=True, text=True,
                          env=runs.environment())
    taken, most = done.stdout.split()
    return float(taken), int(most) * 1024


def cost_row(events: int) -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        truth, exported = folder / "truth.pickle", folder / "exported.pickle"
        done = runs.run([runs.python(), HERE / "programs/timed_snapshot.py", str(events), truth], folder / "trace",
                        timeout=3600).expect(0)
        said = json.loads(done.stdout.decode().split("RESULT ")[1])
        trace, = runs.traces_in(folder / "trace")
        theirs = f"{truth.stat().st_size / 1e6:.1f} MB | {said['seconds']:.1f} s"
        return trace_row(trace, exported, theirs)


def trace_row(trace: Path, exported: Path, theirs: str) -> str:
    taken, most = timed_export(trace, exported)
    reading, found = read_in_another_process(exported)
    return (f"| {found:,} | {theirs} | {trace.stat().st_size / 1e6:.1f} MB | {exported.stat().st_size / 1e6:.1f} MB | "
            f"{taken:.1f} s | {most / 1e6:.0f} MB | {reading:.1f} s |")


def machine() -> str:
    """The load tells how far the times can be trusted."""
    return f"{os.cpu_count()} cores, whose load was {os.getloadavg()[0]:.0f} when it began."


def costs(chosen: argparse.Namespace) -> str:
    before = machine()
    rows = [cost_row(int(events)) for events in chosen.events.split(",") if events]
    for trace in chosen.trace:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(trace_row(trace, Path(folder) / "exported.pickle", "– | –"))
    return COST.format(machine=before) + "\n".join(rows) + "\n" if rows else ""


def comparison(cases: list[str]) -> tuple[str, list[str]]:
    rows, failures = [], []
    for case in cases:
        row, found = case_row(case)
        print(row, file=sys.stderr)
        rows.append(row)
        failures += found
    where = "on this machine's GPU" if runs.on_real_gpu() else f"on the simulated {runs.GPU}"
    text = HEAD.format(date=datetime.date.today().isoformat(), where=where) + "\n".join(rows) + "\n"
    text += INTENT.format(intent=snapshots.DIFFERENT_BY_INTENT)
    if failures:
        text += "\n## What differs\n\n" + "\n".join(f"- {item}" for item in failures) + "\n"
    return text, failures


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=Path, default=HERE / "RESULTS.md")
    parser.add_argument("--events", default="100000,1000000")
    parser.add_argument("--trace", type=Path, action="append", default=[])
    parser.add_argument("--costs-only", action="store_true")
    parser.add_argument("cases", nargs="*", default=list(made.CASES))
    chosen = parser.parse_args()
    if chosen.costs_only:
        text, failures = chosen.into.read_text().split(COST.splitlines()[1])[0].rstrip() + "\n", []
    else:
        text, failures = comparison(chosen.cases or list(made.CASES))
    chosen.into.write_text(text + costs(chosen))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
