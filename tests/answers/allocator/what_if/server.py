# SPDX-License-Identifier: Apache-2.0
"""Performs many runs of workloads.py, each in a process of its own: torch is imported once.

python server.py RUNS.jsonl FOLDER

For each line {"name", "settings", "memory", "workload"} FOLDER gets NAME.json, what
torch.cuda.memory_stats() says at the end, or where memory ran out; and NAME.mtrace, the trace.
"""

import ctypes
import json
import os
import random
import sys
import traceback
from pathlib import Path

import torch

import workloads


def perform(run: dict) -> dict:
    try:
        workloads.WORKLOADS[run["workload"]](random.Random(run["workload"]))
    except torch.OutOfMemoryError:
        pass  # the statistics count it
    return torch.cuda.memory_stats()


def child(run: dict, folder: Path) -> None:
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = run["settings"]
    os.environ["MEMTRACE_SIM_MEMORY"] = str(run["memory"])
    status = 0
    try:
        (folder / f"{run['name']}.json").write_text(json.dumps(perform(run)))
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stderr.flush()
    # C's exit: the trace is finished, and no object of Python's is freed any more.
    ctypes.CDLL(None).exit(status)


def main(plan: str, target: str) -> int:
    folder = Path(target)
    traces = Path(os.environ["MEMTRACE_OUTPUT"])
    failed = 0
    for line in Path(plan).read_text().splitlines():
        run = json.loads(line)
        pid = os.fork()
        if pid == 0:
            child(run, folder)
        _, status = os.waitpid(pid, 0)
        failed += status != 0
        for trace in traces.glob(f"*.{pid}.mtrace"):
            trace.rename(folder / f"{run['name']}.mtrace")
    return min(failed, 100)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
