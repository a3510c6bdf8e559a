# SPDX-License-Identifier: Apache-2.0
"""A program run twice, bare and under libmemtrace, and what must be the same."""

import re
from dataclasses import dataclass
from pathlib import Path

import runs

PROGRAMS = Path(__file__).resolve().parent / "programs"


@dataclass
class Pair:
    bare: runs.Outcome
    traced: runs.Outcome


def script(name: str, *arguments: str) -> list[str]:
    return [runs.python(), str(PROGRAMS / f"{name}.py"), *arguments]


def without_our_lines(stderr: bytes) -> list[bytes]:
    """Without ours, and without those of CPython's resource tracker: a process of its own, which
    loses the race with the end of a program that spawned workers, and then warns, in some 5 % of
    the runs of data_loader_workers.py (6 of 121 bare, 7 of 120 traced)."""
    return [line for line in stderr.splitlines()
            if not line.startswith(b"memtrace") and b"resource_tracker" not in line]


def unstable(line: bytes) -> bytes:
    """Process ids, addresses and clock times, which differ between any two runs, made equal."""
    line = re.sub(rb"0x[0-9a-f]+", b"ADDRESS", line)
    line = re.sub(rb"\d\d:\d\d:\d\d(\.\d+)?", b"TIME", line)
    return re.sub(rb"(?i)(process|pid)[ :=]+\d+", b"PROCESS", line)


def outcome_text(lines: list[bytes]) -> str:
    return b"\n".join(lines).decode(errors="replace")


def run_both(command: list[str], folder: Path, compare_stderr: bool = True, **how) -> Pair:
    """Fails unless standard output, exit status and standard error (but our lines) are the same."""
    bare = runs.run(command, None, **how)
    traced = runs.run(command, folder / "trace", **how)
    assert traced.stdout == bare.stdout
    traced.expect(bare.status)
    if not compare_stderr:
        return Pair(bare, traced)
    same = [[unstable(line) for line in without_our_lines(outcome.stderr)]
            for outcome in (bare, traced)]
    assert same[1] == same[0], f"traced: {outcome_text(same[1])}\nbare: {outcome_text(same[0])}"
    return Pair(bare, traced)


def events(trace: Path) -> list[dict]:
    return runs.dump(trace, stacks=False)


def counted(lines: list[dict], kind: str) -> int:
    return sum(line["kind"] == kind for line in lines)


def said(stdout: bytes) -> dict[str, int]:
    """The last line of small_training.counters() that the program printed."""
    pairs = re.findall(rb"([a-z_]+(?:\.\w+)*)=(\d+)", stdout)
    return {name.decode(): int(value) for name, value in pairs}


def agrees(lines: list[dict], stdout: bytes) -> None:
    """The trace has exactly what the program's own counters said at its end, or a little more."""
    counters = said(stdout)
    assert counters, "the program printed no counters"
    assert counted(lines, "alloc") >= counters["allocation.all.allocated"] > 10
    assert counted(lines, "free_requested") >= counters["allocation.all.freed"] > 5
