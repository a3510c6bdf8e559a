# SPDX-License-Identifier: Apache-2.0
"""Performs one run.

python perform.py RUN.json WITNESS.json [PROGRAM [ARGUMENT…]]

RUN.json: {"streams", "settings", "operations"}; of a Python program's it is not looked at. WITNESS.json gets what
torch.cuda.memory._snapshot() and memory_stats() say at the end, independently of the trace.
"""

import ctypes
import gc
import json
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


def run_program(path: str, *arguments: str) -> dict:
    sys.argv = [path, *arguments]
    sys.path[0] = str(Path(path).parent)
    raised = None
    try:
        kept.append(runpy.run_path(path, run_name="__main__"))
    except torch.OutOfMemoryError as error:
        raised = error  # its frames keep tensors: they are there in the witness, too
    found = witness()
    found["counts"] = {"out of memory at the end": 1} if raised else {}
    found["others"] = False
    return found


def perform(run: dict) -> dict:
    machine = operations.Machine(run["streams"], run["settings"])
    kept.append(machine)
    machine.perform(run["operations"])
    found = witness()
    found["counts"] = dict(machine.counts)
    found["others"] = any(what == "foreign" for what, *_ in run["operations"])
    return found


def main(run: str, target: str, *program: str) -> None:
    status = 0
    warnings.filterwarnings("ignore", message=".*_set_allocator_settings is deprecated")
    try:
        found = run_program(*program) if program else perform(json.loads(Path(run).read_text()))
        Path(target).write_text(json.dumps(found))
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    # C's exit: the trace is finished, and no object of Python's is freed any more.
    ctypes.CDLL(None).exit(status)


if __name__ == "__main__":
    main(*sys.argv[1:])
