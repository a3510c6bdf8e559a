# SPDX-License-Identifier: Apache-2.0
"""Runs forked_ranks.py on simulated GPUs and says what each rank said and recorded."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import runs

PROGRAMS = Path(__file__).resolve().parent / "programs"
GPU = "a100-40"
# Where DeepSpeed is installed, which tests/answers/ranks/make_results.py does.
DEEPSPEED = Path(os.environ.get("MEMTRACE_DEEPSPEED", runs.ROOT / ".venv-deepspeed"))
ALLOCATOR = {"alloc", "free", "free_requested", "free_completed", "segment_alloc", "segment_free",
             "segment_map", "segment_unmap", "oom"}


@dataclass
class Rank:
    said: dict
    trace: Path

    def allocations(self) -> list[tuple]:
        """Every event of PyTorch's allocator: what, where, how much, on which stream."""
        return [(event["kind"], event["address"], event["size"], event.get("stream"))
                for event in runs.dump(self.trace, stacks=False) if event["kind"] in ALLOCATOR]


def run(output: Path, scenarios: list[str], devices: int, timeout: float = 600) -> list[list[Rank]]:
    """The ranks of each scenario, in order."""
    command = [runs.python(), str(PROGRAMS / "forked_ranks.py"), *scenarios]
    done = runs.run(command, output, timeout, gpu=GPU, devices=devices,
                    env={"PYTHONPATH": str(DEEPSPEED), "PYTHONHASHSEED": "0", "DS_BUILD_OPS": "0"})
    done.expect(0)
    found: list[list[Rank]] = [[] for _ in scenarios]
    for line in done.stdout.splitlines():
        if not line.startswith(b"{"):
            continue
        said = json.loads(line)
        found[said["run"]].append(Rank(said, next(output.glob(f"*.{said['pid']}.mtrace"))))
    return [sorted(ranks, key=lambda rank: rank.said["rank"]) for ranks in found]
