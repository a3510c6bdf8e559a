# SPDX-License-Identifier: Apache-2.0
"""Runs forked_ranks.py on simulated GPUs and says what each rank said and recorded."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import recordings
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

    def sizes(self) -> list[tuple]:
        """The same without addresses, which differ between a process that was forked and one that was not:
        streams by number. Up to the last allocation: what is freed at the very end depends on that, too."""
        streams = {}
        found = [(kind, size, streams.setdefault(stream, len(streams)))
                 for kind, _, size, stream in self.allocations()]
        while found and "free" in found[-1][0]:
            found.pop()
        return found


def run(output: Path, scenarios: list[str], devices: int, timeout: float = 600) -> list[list[Rank]]:
    """The ranks of each scenario, in order."""
    return [run_one(output / str(number), scenario, scenarios[:number].count(scenario), devices, timeout)
            for number, scenario in enumerate(scenarios)]


def run_part(output: Path, scenario: str, ranks: str, timeout: float = 600) -> list[Rank]:
    """Only so many of the scenario's ranks, each started by itself, in a world whose others are played."""
    name, size = scenario.split(":")
    command = [runs.python(), PROGRAMS / "forked_ranks.py", PROGRAMS / f"{name}.py", size]
    done = runs.run(command, output, timeout, gpu=GPU, world=(int(size), ranks), env={"PYTHONHASHSEED": "0"}).expect(0)
    return ranks_of(done.stdout, output)


def run_one(output: Path, scenario: str, again: int, devices: int, timeout: float) -> list[Rank]:
    name, *numbers = scenario.split(":")
    command = [runs.python(), PROGRAMS / "forked_ranks.py", PROGRAMS / f"{name}.py", *numbers]
    environment = {"PYTHONHASHSEED": "0", "DS_BUILD_OPS": "0"}
    if DEEPSPEED.is_dir():
        environment["PYTHONPATH"] = str(DEEPSPEED)
    done = recordings.run(command, output, timeout, gpu=GPU, devices=devices, env=environment, again=again).expect(0)
    return ranks_of(done.stdout, output)


def ranks_of(stdout: bytes, output: Path) -> list[Rank]:
    said = [json.loads(line) for line in stdout.splitlines() if line.startswith(b"{")]
    ranks = [Rank(one, next(output.glob(f"*.{one['pid']}.mtrace"))) for one in said]
    return sorted(ranks, key=lambda rank: rank.said["rank"])
