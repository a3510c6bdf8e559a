# SPDX-License-Identifier: Apache-2.0
"""Trains with two to eight ranks on simulated GPUs, everything twice, and writes RESULTS.md.

    make_results.py [SCENARIO:RANKS …]

DeepSpeed is installed into .venv-deepspeed (MEMTRACE_DEEPSPEED: elsewhere), without what it does not
import here.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

import rank_runs  # noqa: E402
import runs  # noqa: E402

DEEPSPEED = ["deepspeed==0.19.8", "einops", "hjson", "msgpack", "ninja", "py-cpuinfo", "pydantic", "pydantic-core",
             "annotated-types", "typing-inspection"]
SCENARIOS = [f"{name}:{ranks}" for name in ("ddp", "fsdp1", "fsdp2", "zero2", "zero3") for ranks in (2, 4, 8)]
NAMES = {"ddp": "DistributedDataParallel", "fsdp1": "FSDP1", "fsdp2": "FSDP2, bfloat16",
         "zero2": "DeepSpeed ZeRO-2, bfloat16", "zero3": "DeepSpeed ZeRO-3, bfloat16"}
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


def main():
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
