# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of these tests, and reads what they and their trackers wrote."""

import importlib.util
import json
from pathlib import Path

import pytest

import runs
import warm

PROGRAMS = Path(__file__).resolve().parent / "programs"
ALLOCATED, RESERVED = "memtrace/peak_allocated_bytes", "memtrace/peak_reserved_bytes"
GROWTH, STEPS_TO_OOM = "memtrace/growth_bytes_per_step", "memtrace/steps_to_oom"
NAMES = {ALLOCATED, RESERVED, GROWTH, STEPS_TO_OOM}
VARIABLES = {
    "PYTHONPATH": str(runs.ROOT / "python"), "HF_HUB_OFFLINE": "1", "WANDB_MODE": "offline", "WANDB_SILENT": "true",
    "MLFLOW_ALLOW_FILE_STORE": "true", "MEMTRACE_BUILD": str(runs.build()),
}


def needs(*packages: str):
    absent = [name for name in packages if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(absent), reason=f"{', '.join(absent)} not installed: scripts/setup installs it")


def run(program: str, *arguments, output: Path | None, **how) -> runs.Outcome:
    how["env"] = {**VARIABLES, **how.get("env", {})}
    return warm.run([runs.python(), PROGRAMS / f"{program}.py", *arguments], output, **how).expect(0)


def said(outcome: runs.Outcome, word: str):
    lines = [line for line in outcome.stdout.decode().splitlines() if line.startswith(f"{word} ")]
    assert len(lines) == 1, outcome.stdout.decode()
    return json.loads(lines[0].removeprefix(f"{word} "))


def report_of(outcome: runs.Outcome, folder: Path) -> dict:
    assert len(outcome.traces) == 1
    return runs.report(outcome.traces, folder)


def in_tensorboard(folder: Path) -> dict[str, list]:
    """The series of scalars of all event files below a folder."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    series = {}
    for file in folder.rglob("events.out.tfevents.*"):
        read = EventAccumulator(str(file))
        read.Reload()
        for name in read.Tags()["scalars"]:
            series.setdefault(name, []).extend((one.step, one.value) for one in read.Scalars(name))
    return series


def phases_of(report: dict) -> dict[str, dict]:
    return {row["phase"]: row for row in report["devices"][0]["phases"] if row["source"] == "user"}


def phases_in(outcome: runs.Outcome) -> list[str]:
    """The program's phases in order, none inside another; a report has those alone that allocate."""
    told = [(record["action"], record["name"]) for record in runs.dump(outcome.traces[0], stacks=False)
            if record["kind"] == "phase" and record["source"] == "user"]
    begun = [name for action, name in told if action == "begin"]
    assert told == [(action, name) for name in begun for action in ("begin", "end")]
    return begun
