# SPDX-License-Identifier: Apache-2.0
"""Runs the corpus' programs with memtrace, and changed ones without; keeps what they left, so that a
changed analyzer judges the same traces again."""

import hashlib
import json
import shutil
from pathlib import Path

import recordings
import runs
from known_remedy import Truth
from measure_changes import STEADY, Wanted, run

KEPT = runs.build() / "advice-corpus"


def digest(*paths: Path) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def folder_of(truth: Truth) -> Path:
    return KEPT / truth.name


def key(truth: Truth) -> str:
    return digest(truth.path, runs.library()) + truth.memory


def record(truth: Truth) -> None:
    """One that runs out of memory ends with an error, as it would for its user."""
    folder = folder_of(truth)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    outcome = recordings.run([runs.python(), truth.path], folder, timeout=600, env=STEADY,
                             memory=truth.memory or None)
    outcome.expect(1 if truth.mends else 0)
    assert outcome.traces, f"{truth.name} left no trace"
    (folder / "key").write_text(key(truth))


def report(truth: Truth, any_library: bool = False) -> dict:
    """On the unchanged program, which is recorded now if need be."""
    known = folder_of(truth) / "key"
    if not known.exists() or not any_library and known.read_text() != key(truth):
        record(truth)
    # A program with workers leaves a trace of each: the report is on all of them.
    return runs.report(runs.traces_in(folder_of(truth)), folder_of(truth))


class Changed:
    """PyTorch's peaks of changed programs: from truth.json, else by running them."""

    def __init__(self, known: dict):
        self.known = known
        self.file = KEPT / "changed.json"
        self.run_here = json.loads(self.file.read_text()) if self.file.exists() else {}

    def of(self, truth: Truth, change: str) -> dict | None:
        return self.known.get(truth.name, {}).get(change) or self.run_here.get(self.key(truth, change))

    @staticmethod
    def key(truth: Truth, change: str) -> str:
        return f"{truth.name} {change} {digest(truth.path)}"

    def run(self, wanted: list[Wanted]) -> None:
        by_key = {self.key(one.truth, one.change): one for one in wanted}
        missing = [one for one in by_key.values() if self.of(one.truth, one.change) is None]
        for one in missing:
            self.run_here[self.key(one.truth, one.change)] = run(one)
        KEPT.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(self.run_here, indent=1))
