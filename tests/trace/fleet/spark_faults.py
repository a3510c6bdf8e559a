# SPDX-License-Identifier: Apache-2.0
"""Faults where Spark adds runs, each tried for real, as in faults.py."""

import os
from pathlib import Path
from typing import Callable

import faults
import spark_runs


def _last(stderr: str, word: str) -> str:
    said = [line for line in stderr.splitlines() if line.startswith("memtrace: ") and word in line]
    assert said and "Traceback" not in stderr, stderr[-3000:]
    return said[-1].removeprefix("memtrace: ")


def executor_killed(folder: Path, traces: list[Path]) -> str:
    store = folder / "fleet"
    done = spark_runs.add_and_kill_an_executor(store, faults.copies(traces, folder / "traces"), folder / "log")
    assert done.returncode == 0, done.stderr[-3000:]
    assert len(faults.run_ids(store)) == len(set(faults.run_ids(store))) == len(traces)
    assert not faults.leftovers(store)
    faults.counted(store, len(traces))
    return _last(done.stderr, "runs:")


def poisoned(folder: Path, traces: list[Path]) -> str:
    """An empty file and one of noise among good ones: named, the others are added."""
    sources = faults.copies(traces[:8], folder / "traces")
    for number in range(2):
        bad = folder / "traces" / f"bad{number}"
        bad.mkdir()
        (bad / "train.py.7.mtrace").write_bytes(os.urandom(50_000) if number else b"")
    done = spark_runs.fleet("add", folder / "fleet", *sources, *sorted((folder / "traces").glob("bad*")), *spark_runs.LOCAL)
    assert done.returncode == 1, done.stderr[-3000:]
    assert f"{len(sources)} added" in done.stderr and "2 not added" in done.stderr, done.stderr[-3000:]
    assert len(faults.run_ids(folder / "fleet")) == len(sources) and not faults.leftovers(folder / "fleet")
    return " ".join(_last(done.stderr, f"bad{number}/train.py.7.mtrace") for number in range(2)) + "; " + \
        _last(done.stderr, "not added")


ALL: dict[str, Callable[[Path, list[Path]], str]] = {
    "an executor of Spark is killed in the middle": executor_killed,
    "two files that are none, among the traces that Spark adds": poisoned,
}
