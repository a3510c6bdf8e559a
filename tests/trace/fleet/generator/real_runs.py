# SPDX-License-Identifier: Apache-2.0
"""Makes the real runs of settings.py: recorded on the simulated GPU, summarised by memtrace fleet add.

A run's truth is what PyTorch printed at its end; a run that did not do what it was written for is refused, so that
no made-up run descends from a wrong one.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterable, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "support"))

import pyarrow.parquet  # noqa: E402

import programs  # noqa: E402
import recordings  # noqa: E402
import runs  # noqa: E402
import settings  # noqa: E402


class Real(NamedTuple):
    """A real run with the row of its summary."""

    setting: settings.Setting
    torch: dict[str, Any]  # as PyTorch counted
    row: dict[str, Any]


def record(setting: settings.Setting, folder: Path) -> dict[str, Any]:
    """Into `folder`; what PyTorch counted. AssertionError where the program did otherwise than it was written to."""
    command = [runs.python(), str(programs.path("varied_training")), *setting.arguments.split()]
    outcome = recordings.run(command, folder, gpu=setting.gpu, memory=setting.memory or None)
    printed = [line for line in outcome.stdout.decode().splitlines() if line.startswith("{")]
    assert printed, f"{setting.name}: {outcome.stderr.decode()[-2000:]}"
    told = json.loads(printed[-1])
    assert told["out_of_memory"] == setting.kind.startswith("oom"), f"{setting.name}: {told}"
    return told


def fleet(*arguments: object) -> subprocess.CompletedProcess:
    """memtrace fleet ARGUMENTS."""
    return subprocess.run([str(runs.memtrace()), "fleet", *map(str, arguments)], capture_output=True, text=True,
                          env=runs.environment({"MEMTRACE_PYTHON": runs.python()}))


def _summary(setting: settings.Setting, traces: Path, into: Path) -> dict[str, Any]:
    pattern = f"date=*/project={setting.name}/run=*/*.parquet"
    if not list(into.glob(pattern)):
        added = fleet("add", into, traces, "--project", setting.name, "--user", "real")
        assert added.returncode == 0, f"{setting.name}: {added.stderr}"
    (written,) = into.glob(pattern)
    (row,) = pyarrow.parquet.ParquetFile(written).read().to_pylist()
    return row


def make(chosen: Iterable[settings.Setting], folder: Path) -> list[Real]:
    """Recordings in folder/traces/NAME, summaries in folder/fleet; what is there already is not made again."""
    made = []
    for setting in chosen:
        traces, told = folder / "traces" / setting.name, folder / "truth" / f"{setting.name}.json"
        if not told.exists():
            told.parent.mkdir(parents=True, exist_ok=True)
            told.write_text(json.dumps(record(setting, traces)))
        made.append(Real(setting, json.loads(told.read_text()), _summary(setting, traces, folder / "fleet")))
    return made
