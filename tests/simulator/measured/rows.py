# SPDX-License-Identifier: Apache-2.0
"""The rows that were measured on real GPUs, and how one of them is run on the simulated one."""

import json
from dataclasses import dataclass
from pathlib import Path

import recordings
import runs

HERE = Path(__file__).resolve().parent
MIB = 1 << 20
ALLOWED = 0.001  # of the real peak


@dataclass
class Result:
    row: dict
    torch_bytes: float   # median of torch.cuda.max_memory_allocated, as the row was measured
    report_bytes: int    # peak_allocated_bytes of memtrace report: the whole run's peak

    @property
    def real_bytes(self) -> float:
        return self.row["real_mib"] * MIB

    @property
    def difference(self) -> float:
        return self.torch_bytes / self.real_bytes - 1

    @property
    def report_difference(self) -> float:
        return self.report_bytes / self.real_bytes - 1


def rows() -> list[dict]:
    return json.loads((HERE / "real_gpus.json").read_text())["rows"]


def name(row: dict) -> str:
    sizes = " ".join(f"{key}={value}" for key, value in row["sizes"].items() if key != "eps")
    return f"{row['family']} {sizes}"


def simulate(row: dict, folder: Path) -> Result:
    outcome = recordings.run(
        [runs.python(), HERE / "programs" / "measure.py", row["family"], json.dumps(row["sizes"])],
        folder / "trace", gpu=row["model"],
    ).expect(0)
    report = runs.report(outcome.traces, folder)
    return Result(row, json.loads(outcome.stdout.splitlines()[-1])["median_peak_bytes"],
                  report["devices"][0]["peak_allocated_bytes"])
