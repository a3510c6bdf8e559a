# SPDX-License-Identifier: Apache-2.0
"""The words of the programs of these tests, as they stand in their traces."""

from pathlib import Path

import recordings
import runs

ROOT = runs.ROOT
PROGRAMS = Path(__file__).resolve().parent / "programs"
PACKAGE = {"PYTHONPATH": str(ROOT / "python")}


def python(name: str, output: Path | None, **how) -> runs.Outcome:
    """One of the Python programs, traced into `output`, or bare."""
    how["env"] = {**PACKAGE, **how.get("env", {})}
    return recordings.run([runs.python(), PROGRAMS / f"{name}.py"], output, **how)


def only_trace(outcome: runs.Outcome) -> list[dict]:
    outcome.expect(0)
    assert len(outcome.traces) == 1
    return runs.dump(outcome.traces[0], stacks=False)


def phases(records: list[dict], source: str = "user") -> list[tuple[str, str]]:
    return [(record["action"], record["name"]) for record in records
            if record["kind"] == "phase" and record["source"] == source]


def storages(records: list[dict], role: str) -> list[dict]:
    return [record for record in records if record["kind"] == "storage" and record["role"] == role]


def counters(records: list[dict]) -> list[tuple[str, float]]:
    """The samples that the program told: the recorder's own have names that begin with its own."""
    return [(record["name"], record["value"]) for record in records
            if record["kind"] == "counter" and not record["name"].startswith("memtrace.")]


def nested(*names: str) -> list[tuple[str, str]]:
    """Phases one inside the other, the outermost first."""
    return [("begin", name) for name in names] + [("end", name) for name in reversed(names)]


def said(outcome: runs.Outcome, word: str) -> list[str]:
    """The text that the program printed after `word`, line by line."""
    lines = outcome.stdout.decode().splitlines()
    return [line.removeprefix(f"{word} ") for line in lines if line.startswith(f"{word} ")]
