# SPDX-License-Identifier: Apache-2.0
"""Runs a program, and writes down what PyTorch itself says of it: peaks, retries, whether it ran out of memory.

python peaks.py INTO OUTSIDE PROGRAM [ARGUMENT…]    OUTSIDE: a change by any_program.py; empty: none
"""

import json
import runpy
import sys
import traceback
from pathlib import Path

import torch

import any_program


def peaks() -> dict:
    stats = torch.cuda.memory_stats()
    return {
        "peak_reserved_bytes": stats["reserved_bytes.all.peak"],
        "peak_allocated_bytes": stats["allocated_bytes.all.peak"],
        "retries": stats["num_alloc_retries"],
        "driver_allocations": stats["num_device_alloc"],
        "pinned_bytes": torch.cuda.host_memory_stats().get("allocated_bytes.peak", 0),
    }


def run(outside: str, program: str, *arguments: str) -> dict:
    sys.argv = [program, *arguments]
    sys.path.insert(0, str(Path(program).parent))
    if outside:
        any_program.make(outside)
    out_of_memory = None
    try:
        runpy.run_path(program, run_name="__main__")
    except torch.OutOfMemoryError as error:
        out_of_memory = str(error).split(". GPU")[0]
    return {**peaks(), "out_of_memory": out_of_memory}


def main(into: str, *what: str) -> int:
    try:
        found = run(*what)
    except BaseException:
        found = {"failure": traceback.format_exc()[-2000:]}
    Path(into).write_text(json.dumps(found))
    return 1 if "failure" in found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
