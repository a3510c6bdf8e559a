# SPDX-License-Identifier: Apache-2.0
"""Takes snapshots under several versions of PyTorch and reads them, and measures large ones; writes
RESULTS.md.

python tests/trace/snapshots/make_results.py [--into FILE] [--torch VERSION…] [--events N…] [--taken FOLDER]

--taken: FOLDER/VERSION holds what takes_snapshots.py made under that version, FOLDER/EVENTS.pickle a made-up
snapshot; what is not there is made.
Rows of versions and sizes that are not asked for are kept as FILE has them.
"""

import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "support"), str(HERE.parents[1] / "trace" / "training"),
                str(HERE.parents[1] / "trace" / "versions")]

import compare  # noqa: E402
import environments  # noqa: E402
import made_snapshots  # noqa: E402
import snapshot_programs  # noqa: E402
import runs  # noqa: E402
import pickle_truth  # noqa: E402

TORCH = ["2.3.1", "2.6.0", "2.8.0", "2.11.0", "2.15.0"]
EVENTS = [1_000_000, 5_000_000]

HEAD = """# Snapshots read in place of traces

Programs that take a snapshot of themselves ([takes_snapshots.py](takes_snapshots.py)) ran under several versions of
PyTorch on the simulated {gpu}, recorded by memtrace at the same time. Made by
`tests/trace/snapshots/make_results.py`, last on {date}.

*Different*: events, frames, totals, blocks and segments at the end, and statistics that differ from
what Python's own pickle reads in the snapshot and from `memory_stats()`, without tolerance; of a
history that begins late, what differs between the blocks before it and those that undoing its events
in Python gives. *Peaks*: allocated and reserved, of the report on the snapshot and of `memory_stats()`
(of a late history, which does not have them, `–`). *Recording*: whether verdicts and the diagnosis of
fragmentation are those of the recording of the same run, and else what the two say; of a history that
is not whole, the diagnosis alone. "totals": the diagnosis of the snapshot has totals only, and why.

| PyTorch | program | history | events | different | peaks | recording |
| --- | --- | --- | ---: | ---: | --- | --- |
"""
LARGE = """
## Large snapshots

Made up by [made_snapshots.py](made_snapshots.py): training steps on a small allocator, 200 call stacks, one device.
*Read*: `memtrace dump --no-stacks`' time until its first line, which is when the snapshot has become
a trace. *Report*: `memtrace report` from beginning to end. Memory is the peak of the process; on {cpus}
processors, others busy as well.

| events | snapshot | read | report | memory, read | memory, report |
| ---: | ---: | ---: | ---: | ---: | ---: |
"""


def different(snapshot: dict, stats: list, lines: list[dict], late: bool) -> tuple[int, int, list]:
    """Events, differences, and what some of them are."""
    events, count, shown = 0, 0, []
    for device in range(len(stats)):
        if late:
            there = [one for one in lines if one["kind"] in compare.KINDS and one["device"] == device]
            known = [one for one in snapshot["device_traces"][device] if one["action"] in compare.KINDS]
            start = {one["address"]: one["size"]
                     for one in there[:len(there) - len(known)] if one["kind"] == "alloc"}
            before = pickle_truth.blocks_at_start(snapshot, device)
            count += len(set(start.items()) ^ set(before.items()))
            events += len(known)
            continue
        found = compare.compare({**snapshot, "memory_stats": stats}, lines, device)
        events, count = events + found.events, count + found.differences
        shown += found.shown
    return events, count, shown


def told(report: dict) -> set:
    return {(one["subject"].split(":")[0],
             re.sub(r" over \d+ steps", "", one["summary"].split(": out of memory")[0]))
            for one in report["verdicts"] if one["subject"].startswith(("device", "site"))}


def beside_recording(ours: dict, recorded: dict) -> str:
    whole = ours["run"]["snapshot"]["history"] == "whole"
    mine, its = (sorted(text for kind, text in told(one) if kind == "device") for one in (ours, recorded))
    verdicts = ""
    if whole and told(ours) != told(recorded):
        verdicts = f"{', '.join(mine)} – the recording: {', '.join(its)}; "
    inexact = [one["inexact"] for one in ours["fragmentation"] if one["inexact"]]
    if inexact:
        return verdicts + "totals: " + inexact[0]
    keys = ("cause", "summary", "matters", "lower_bound_bytes", "lower_bound_active_bytes", "peak_reserved_bytes")
    same = all(a[key] == b[key] for a, b in zip(ours["fragmentation"], recorded["fragmentation"])
               for key in keys)
    return verdicts + ("same" if same else "another diagnosis")


def row(torch: str, name: str, folder: Path, failures: list[str]) -> str:
    snapshot, stats = pickle_truth.load(folder / f"{name}.pickle"), json.loads((folder / f"{name}.json").read_text())
    lines = runs.dump(folder / f"{name}.pickle")
    ours, recorded = (runs.report([folder / f"{name}.{kind}"], folder) for kind in ("pickle", "mtrace"))
    facts = ours["run"]["snapshot"]
    history = facts["history"]
    events, count, shown = different(snapshot, stats, lines, history != "whole")
    count += not facts["events_lead_to_segments"]
    failures += [f"{torch}, {name}: {text}" for text in shown]
    peaks = "–"
    if history == "whole":
        pairs = [(one["peak_allocated_bytes"], one["peak_reserved_bytes"]) for one in ours["devices"]]
        its = [(one["allocated_bytes.all.peak"], one["reserved_bytes.all.peak"]) for one in stats]
        peaks = "equal" if pairs == its else f"{pairs}, memory_stats {its}"
    return (f"| {torch} | {name} | {history} | {events:,} | {count} | {peaks} | "
            f"{beside_recording(ours, recorded)} |")


def take(torch: str, folder: Path) -> None:
    python = environments.installed(environments.Version(torch, environments.ONE_PYTHON)) \
        if torch != "2.11.0" else runs.python()
    for name in snapshot_programs.VERSIONS:
        done = runs.run([python, HERE / "takes_snapshots.py", folder, name], folder / "traces" / name, devices=2)
        if done.status != 0:
            print(done.stderr.decode(errors="replace")[-3000:], file=sys.stderr)
        for trace in done.traces:
            trace.rename(folder / f"{name}.mtrace")


def rows_of(torch: str, taken: Path | None, failures: list[str]) -> list[str]:
    with tempfile.TemporaryDirectory() as target:
        folder = Path(target)
        if taken and (taken / torch).is_dir():
            folder = taken / torch
        else:
            take(torch, folder)
        rows = []
        for name in snapshot_programs.VERSIONS:
            try:
                rows.append(row(torch, name, folder, failures))
            except Exception as error:  # one that fails must not hide the others
                failures.append(f"{torch}, {name}: {type(error).__name__} {error}")
                rows.append(f"| {torch} | {name} | failed | | | | |")
        return rows


def measured(command: list, first_line: bool) -> tuple[float, int]:
    """Seconds, and the most memory in bytes."""
    begin = time.monotonic()
    child = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE,
                             env=runs.environment())
    if first_line:
        child.stdout.readline()
        seconds = time.monotonic() - begin
        child.stdout.close()
    else:
        child.stdout.read()
        seconds = time.monotonic() - begin
    _, _, used = os.wait4(child.pid, 0)
    return seconds, used.ru_maxrss * 1024


def large(events: int, taken: Path | None) -> str:
    with tempfile.TemporaryDirectory() as target:
        file = (taken or Path(target)) / f"{events}.pickle"
        written = events if file.exists() else made_snapshots.big(file, events, 200)
        read, memory = measured([runs.memtrace(), "dump", "--no-stacks", file], True)
        report, most = measured([runs.memtrace(), "report", file], False)
        return (f"| {written:,} | {file.stat().st_size / 1e6:,.0f} MB | {read:.1f} s | {report:.1f} s | "
                f"{memory / 1e6:,.0f} MB | {most / 1e6:,.0f} MB |")


def kept(file: Path) -> tuple[dict, dict]:
    rows, sizes = {}, {}
    for text in file.read_text().splitlines() if file.exists() else []:
        cells = [cell.strip() for cell in text.strip("|").split("|")]
        if len(cells) == 7 and cells[0] in TORCH:
            rows.setdefault(cells[0], []).append(text)
        elif len(cells) == 6 and cells[0].replace(",", "").isdigit():
            number = int(cells[0].replace(",", ""))
            sizes[min(EVENTS, key=lambda one: abs(one - number))] = text
    return rows, sizes


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=Path, default=HERE / "RESULTS.md")
    parser.add_argument("--torch", nargs="*", default=TORCH)
    parser.add_argument("--events", nargs="*", type=int, default=EVENTS)
    parser.add_argument("--taken", type=Path)
    chosen = parser.parse_args()
    rows, sizes = kept(chosen.into)
    failures: list[str] = []

    def write() -> None:
        text = HEAD.format(gpu=runs.GPU, date=datetime.date.today().isoformat())
        text += "".join(one + "\n" for torch in TORCH for one in rows.get(torch, []))
        text += LARGE.format(cpus=os.cpu_count())
        text += "".join(sizes[one] + "\n" for one in EVENTS if one in sizes)
        if failures:
            text += "\n## What differs\n\n" + "\n".join(f"- {item}" for item in failures) + "\n"
        chosen.into.write_text(text)

    for torch in chosen.torch:
        rows[torch] = rows_of(torch, chosen.taken, failures)
        print(*rows[torch], sep="\n", file=sys.stderr, flush=True)
        write()
    for events in chosen.events:
        sizes[events] = large(events, chosen.taken)
        write()
    print(*failures, sep="\n", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
