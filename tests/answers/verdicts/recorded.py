# SPDX-License-Identifier: Apache-2.0
"""Runs the corpus' programs, and keeps their traces: a changed analyzer judges them again without
running anything, a changed library, program or argument runs them anew."""

import hashlib
import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import runs
from truth import Truth

KEPT = runs.build() / "verdicts"


@dataclass(frozen=True)
class Run:
    truth: Truth
    steps: int
    seed: int = 0
    mode: str = ""  # of MEMTRACE; "": without it

    @property
    def name(self) -> str:
        return "-".join([self.truth.program, str(self.steps), str(self.seed), *self.truth.arguments,
                         *([self.mode] if self.mode else [])])

    @property
    def folder(self) -> Path:
        return KEPT / self.name

    def command(self) -> list:
        return [runs.python(), self.truth.path, "--steps", self.steps, "--seed", self.seed,
                *self.truth.arguments]

    def machine(self) -> dict:
        return {"gpu": self.truth.gpu, "memory": self.truth.memory_size}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def key(run: Run) -> str:
    # The path, too: the report reads the source where the trace says that it is.
    parts = [str(run.truth.path), digest(run.truth.path), digest(runs.library()), str(run.command()[2:]),
             str(sorted(run.machine().items())), run.mode]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def known(run: Run, any_library: bool = False) -> dict | None:
    """What is remembered of the run, if it still holds."""
    try:
        said = json.loads((run.folder / "run.json").read_text())
    except (OSError, ValueError):
        return None
    return said if any_library or said["key"] == key(run) else None


def record(run: Run) -> dict:
    """Runs it; an exit status other than 0 is an error of the program, not a verdict."""
    shutil.rmtree(run.folder, ignore_errors=True)
    run.folder.mkdir(parents=True)
    begin = time.monotonic()
    environment = {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    if run.mode:
        environment["MEMTRACE"] = run.mode
    outcome = runs.run(run.command(), run.folder, timeout=600, env=environment, **run.machine())
    outcome.expect(0)
    assert outcome.traces, f"{run.name} left no trace\n{outcome.stderr.decode(errors='replace')[-2000:]}"
    said = {"key": key(run), "seconds": round(time.monotonic() - begin, 1)}
    (run.folder / "run.json").write_text(json.dumps(said))
    return said


def report(run: Run, any_library: bool = False) -> dict:
    """The report on a recorded run, which is recorded now if need be."""
    if known(run, any_library) is None:
        record(run)
    return runs.report(runs.traces_in(run.folder), run.folder)
