# SPDX-License-Identifier: Apache-2.0
"""One version of PyTorch under one Python trains on the simulated GPU, and is compared."""

import json
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import environments
import runs

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "trace" / "training"))

import compare  # noqa: E402

SETTINGS = {
    "default": {},
    "expandable": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"},
}


def settings_of(version: environments.Version) -> list[str]:
    return list(SETTINGS) if version.torch in environments.THOROUGHLY else ["default"]


@dataclass
class Run:
    said: str  # on standard error
    found: compare.Comparison
    report: dict
    infos: dict[str, str]
    pools: set[tuple]  # of the allocations in the trace
    snapshot_pools: set[tuple]  # of the segments at the end, as PyTorch tells them
    replay_differs: str  # empty: the model of the allocator did the same at every request


def cuda_of(run: Run) -> str:
    """"12.4", of a wheel that calls itself 2.6.0+cu124."""
    digits = run.infos["torch"].partition("+cu")[2]
    return f"{digits[:-1]}.{digits[-1]}"


def replayed(trace: Path, folder: Path) -> str:
    target = folder / "replay.json"
    subprocess.run([str(runs.memtrace()), "replay", str(trace), "--json", str(target)], check=True,
                   capture_output=True, env=runs.environment())
    result = json.loads(target.read_text())
    if result["exact"]:
        return ""
    exactness = result["devices"][0]["exactness"]
    first = exactness["first_difference"]
    return f"{exactness['events']} events differ, from {first['event']} on ({first['what']})" if first else "not exact"


def run_one(version: environments.Version, setting: str, folder: Path) -> Run:
    python = environments.installed(version)
    truth_file = folder / "truth.pickle"
    outcome = runs.run(
        [python, HERE.parents[1] / "trace" / "training" / "recorded_by_pytorch.py", truth_file,
         HERE / "training.py"],
        folder / "trace", env=SETTINGS[setting], timeout=600,
    ).expect(0)
    traces = runs.traces_in(folder / "trace")
    assert len(traces) == 1, f"expected one trace, found {traces}"
    lines = runs.dump(traces[0])
    with open(truth_file, "rb") as file:
        truth = pickle.load(file)
    return Run(
        said=outcome.stderr.decode(),
        found=compare.compare(truth, lines),
        report=runs.report(traces, folder),
        infos={line["key"]: line["value"] for line in lines if line["kind"] == "info"},
        pools={tuple(line["pool"]) for line in lines if line["kind"] == "alloc"},
        snapshot_pools={tuple(one["segment_pool_id"]) for one in truth["segments"]},
        replay_differs=replayed(traces[0], folder),
    )
