# SPDX-License-Identifier: Apache-2.0
"""Trains with two to eight ranks on simulated GPUs, everything twice, and writes RESULTS.md.

    make_results.py [SCENARIO:RANKS …]
    make_results.py --worlds      a whole world beside two of its ranks: WORLDS.md

DeepSpeed is installed into .venv-deepspeed (MEMTRACE_DEEPSPEED: elsewhere), without what it does not
import here.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

import rank_runs  # noqa: E402
import runs  # noqa: E402

DEEPSPEED = ["deepspeed==0.19.8", "einops", "hjson", "msgpack", "ninja", "py-cpuinfo", "pydantic", "pydantic-core",
             "annotated-types", "typing-inspection"]
SCENARIOS = [f"{name}:{ranks}" for name in ("ddp", "fsdp1", "fsdp2", "zero2", "zero3") for ranks in (2, 4, 8)]
NAMES = {"ddp": "DistributedDataParallel", "fsdp1": "FSDP1", "fsdp2": "FSDP2, bfloat16",
         "zero2": "DeepSpeed ZeRO-2, bfloat16", "zero3": "DeepSpeed ZeRO-3, bfloat16"}
WORLDS = {
    "ddp:4": "DistributedDataParallel", "sharded_optimizer:4": "the same with ZeroRedundancyOptimizer, no_sync",
    "fsdp1:4": "FSDP1", "fsdp2:2": "FSDP2, bfloat16", "fsdp2:8": "FSDP2, bfloat16",
    "hsdp:4": "FSDP2 over a mesh of copies and shards", "tensor_parallel:4": "tensor parallelism",
    "two_dimensions:4": "tensor parallelism and FSDP2", "two_dimensions:8": "tensor parallelism and FSDP2",
    "pipeline:4": "pipeline, 1F1B", "experts:4": "experts, all_to_all by counts",
    "experts:8": "experts, all_to_all by counts", "ring:4": "keys and values sent round",
    "evaluation:4": "evaluation: tensors and objects gathered",
}
WORLDS_HEADING = """# Some ranks of a world beside the whole world

Written by tests/answers/ranks/make_results.py --worlds. Each program of tests/answers/ranks/programs ran as a
whole world on simulated A100s, and as its first and last rank alone, `memtrace dry-run --world-size N --ranks 0,last`.
Same: both ranks made the same events of PyTorch's allocator as in the whole world, in the same order, of the same
sizes, on the same streams, up to the last allocation, and took the same memory outside of it. Both by the simulator: no real GPU is in this table.

| training | ranks | events a rank | peak allocated, MiB | outside PyTorch, MiB | ranks that were the same |
| --- | --- | --- | --- | --- | --- |
"""
MIB = 1 << 20
HEADING = """# Ranks on simulated GPUs

Written by tests/answers/ranks/make_results.py. Each program of tests/answers/ranks/programs trains a small transformer for six
steps, twice, in two runs of `memtrace dry-run`. Same: both runs of each rank made the same events of PyTorch's
allocator, in the same order, of the same sizes at the same addresses.

| training | ranks | events a rank | peak allocated, MiB | ranks that were the same |
| --- | --- | --- | --- | --- |
"""


def install_deepspeed():
    if (rank_runs.DEEPSPEED / "deepspeed").is_dir():
        return
    subprocess.run([runs.python(), "-m", "pip", "install", "--quiet", "--no-deps", "--target",
                    str(rank_runs.DEEPSPEED), *DEEPSPEED], check=True, env={**os.environ, "DS_BUILD_OPS": "0"})


def span(values):
    low, high = min(values), max(values)
    return f"{low}" if low == high else f"{low} to {high}"


def row(scenario, first, second):
    name, ranks = scenario.split(":")
    sequences = [(one.allocations(), other.allocations()) for one, other in zip(first, second)]
    same = sum(1 for one, other in sequences if one == other)
    events = span([len(one) for one, _ in sequences])
    peaks = span([f"{rank.said['peak'] / MIB:.2f}" for rank in first])
    print(f"{scenario}: {same} of {ranks} the same, {events} events, {peaks} MiB", flush=True)
    return f"| {NAMES[name]} | {ranks} | {events} | {peaks} | {same} of {ranks} |\n"


def world_row(scenario, what):
    name, size = scenario.split(":")
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        [whole] = rank_runs.run(Path(folder) / "whole", [scenario], devices=int(size), timeout=1200)
        middle = time.monotonic()
        some = rank_runs.run_part(Path(folder) / "some", scenario, "0,last")
        ended = time.monotonic()
        same = [rank.sizes() == whole[rank.said["rank"]].sizes() and
                rank.said["outside"] == whole[rank.said["rank"]].said["outside"] for rank in some]
        events = span([len(rank.sizes()) for rank in some])
    peaks = span([f"{rank.said['peak'] / MIB:.2f}" for rank in some])
    outside = span([f"{rank.said['outside'] / MIB:.0f}" for rank in some])
    print(f"{scenario}: {sum(same)} of 2 the same, whole {middle - began:.0f} s, some {ended - middle:.0f} s", flush=True)
    return f"| {what} | {size} | {events} | {peaks} | {outside} | {sum(same)} of 2 |\n"


def main():
    if sys.argv[1:] == ["--worlds"]:
        rows = [world_row(scenario, what) for scenario, what in WORLDS.items()]
        Path(__file__).with_name("WORLDS.md").write_text(WORLDS_HEADING + "".join(rows))
        return
    chosen = sys.argv[1:] or SCENARIOS
    install_deepspeed()
    rows = []
    for scenario in chosen:
        with tempfile.TemporaryDirectory() as folder:
            ranks = int(scenario.split(":")[1])
            first, second = rank_runs.run(Path(folder), [scenario, scenario], devices=ranks, timeout=1200)
            rows.append(row(scenario, first, second))
    if chosen == SCENARIOS:
        Path(__file__).with_name("RESULTS.md").write_text(HEADING + "".join(rows))


if __name__ == "__main__":
    main()
