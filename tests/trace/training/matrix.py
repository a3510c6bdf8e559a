# SPDX-License-Identifier: Apache-2.0
"""Which programs run under which allocator settings, and how one of them is compared."""

import pickle
from dataclasses import dataclass
from pathlib import Path

import compare
import programs
import recordings
import runs

PROGRAMS = programs.having("each_setting")


@dataclass(frozen=True)
class Setting:
    name: str
    variables: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()


SETTINGS = [
    Setting("default"),
    Setting("expandable", (("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"),)),
    Setting("streams", arguments=("--streams",)),
]

# The cases that every change is tested with; the results script runs all.
QUICK = {("transformer_adamw", "default"), ("transformer_adamw", "streams"),
         ("mt5_trainer", "default"), ("cuda_graph", "default"), ("lstm", "expandable"),
         ("side_streams", "default"), ("side_streams", "expandable"),
         ("resnet50_sgd", "streams"), ("qlora_bitsandbytes", "default"),
         ("kv_cache_generation", "default")}


@dataclass
class Run:
    found: compare.Comparison
    truth: dict
    report: dict
    lines: list[dict]


def run_one(program: str, setting: Setting, folder: Path) -> Run:
    truth_file = folder / "truth.pickle"
    recordings.run(
        [runs.python(), runs.ROOT / "tests/trace/training/recorded_by_pytorch.py", truth_file,
         programs.path(program), *setting.arguments],
        folder / "trace", env=dict(setting.variables), timeout=600,
    ).expect(0)
    traces = runs.traces_in(folder / "trace")
    assert len(traces) == 1, f"expected one trace, found {traces}"
    lines = runs.dump(traces[0])
    with open(truth_file, "rb") as file:
        truth = pickle.load(file)
    found = compare.compare(truth, lines)
    report = runs.report(traces, folder)
    device = report["devices"][0]
    stats = truth["memory_stats"][0]
    for key, name in (("peak_allocated_bytes", "allocated_bytes.all.peak"),
                      ("peak_reserved_bytes", "reserved_bytes.all.peak")):
        if device[key] != stats[name]:
            found.different_stats.append(f"report's {key} {device[key]}, memory_stats {stats[name]}")
            found.show(found.different_stats[-1])
    return Run(found, truth, report, lines)
