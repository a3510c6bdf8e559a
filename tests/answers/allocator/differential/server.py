# SPDX-License-Identifier: Apache-2.0
"""Performs many runs, each in a process of its own: torch is imported once, then one child a run.

python server.py RUNS.jsonl FOLDER

For each line {"name", "settings", "memory", "streams", "operations"} FOLDER gets NAME.json: what
torch.cuda.memory._snapshot() and memory_stats() say at the end, as a witness that is independent of
the trace; and NAME.mtrace, the trace. A run {"name", "settings", "memory", "program", "arguments"}
is a Python program instead.
"""

import ctypes
import gc
import json
import os
import runpy
import sys
import traceback
import warnings
from pathlib import Path

import torch

import operations

kept = []  # alive until the process is gone: a free after the witness was taken would be a change


def witness() -> dict:
    gc.disable()  # the snapshot's many objects would set off a collection, which frees tensors
    stats = torch.cuda.memory_stats()
    segments = [
        {
            "address": one["address"], "bytes": one["total_size"], "stream": one["stream"],
            "pool": list(one["segment_pool_id"]), "small": one["segment_type"] == "small",
            "expandable": one["is_expandable"],
            "blocks": [[block["address"], block["size"], block["requested_size"], block["state"]]
                       for block in one["blocks"]],
        }
        for one in torch.cuda.memory._snapshot()["segments"]
    ]
    wanted = ("allocated_bytes.all.peak", "reserved_bytes.all.peak", "allocated_bytes.all.current",
              "reserved_bytes.all.current", "active_bytes.all.current", "active_bytes.all.peak",
              "num_alloc_retries", "num_ooms", "num_device_alloc", "num_device_free")
    return {"segments": segments, "stats": {name: stats[name] for name in wanted}}


def perform(run: dict) -> dict:
    if "program" in run:
        sys.argv = [run["program"], *run.get("arguments", [])]
        sys.path[0] = str(Path(run["program"]).parent)
        raised = None
        try:
            kept.append(runpy.run_path(run["program"], run_name="__main__"))
        except torch.OutOfMemoryError as error:
            raised = error  # its frames keep tensors: they are there in the witness, too
        found = witness()
        found["counts"] = {"out of memory at the end": 1} if raised else {}
        found["others"] = False
        return found
    machine = operations.Machine(run["streams"], run["settings"])
    kept.append(machine)
    machine.perform(run["operations"])
    found = witness()
    found["counts"] = dict(machine.counts)
    found["others"] = any(what == "foreign" for what, *_ in run["operations"])
    return found


def child(run: dict, folder: Path) -> None:
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = run["settings"]
    os.environ["MEMTRACE_SIM_MEMORY"] = str(run["memory"])
    status = 0
    warnings.filterwarnings("ignore", message=".*_set_allocator_settings is deprecated")
    try:
        (folder / f"{run['name']}.json").write_text(json.dumps(perform(run)))
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    # C's exit: the trace is finished, and no object of Python's is freed any more.
    ctypes.CDLL(None).exit(status)


def main(plan: str, target: str) -> int:
    folder = Path(target)
    traces = Path(os.environ["MEMTRACE_OUTPUT"])
    failed = 0
    with open(plan) as lines:
        wanted = [json.loads(line) for line in lines]
    for run in wanted:
        pid = os.fork()
        if pid == 0:
            child(run, folder)
        _, status = os.waitpid(pid, 0)
        if status != 0:
            print(f"run {run['name']} ended with status {status}", file=sys.stderr)
            failed += 1
        for trace in traces.glob(f"*.{pid}.mtrace"):
            trace.rename(folder / f"{run['name']}.mtrace")
    return min(failed, 100)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
