# SPDX-License-Identifier: Apache-2.0
"""Runs programs one after another in children of one process that has imported torch already, and
writes down what PyTorch itself says of each: peaks, retries, whether it ran out of memory.

To be run on a simulated GPU: memtrace dry-run --bare -- python forked.py JOBS
JOBS: JSON, a list of {program, arguments[], environment{}, outside, into}; outside: see any_program.py.
"""

import json
import os
import runpy
import sys
import time
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


def run(job: dict) -> dict:
    os.environ.update(job["environment"])
    sys.argv = [job["program"], *job["arguments"]]
    sys.path.insert(0, str(Path(job["program"]).parent))
    if job.get("outside"):
        any_program.make(job["outside"])
    out_of_memory = None
    try:
        runpy.run_path(job["program"], run_name="__main__")
    except torch.OutOfMemoryError as error:
        out_of_memory = str(error).split(". GPU")[0]
    return {**peaks(), "out_of_memory": out_of_memory}


def child(job: dict) -> int:
    begin = time.process_time()
    try:
        found = run(job)
    except BaseException:
        found = {"failure": traceback.format_exc()[-2000:]}
    found["cpu_seconds"] = round(time.process_time() - begin, 2)
    Path(job["into"]).write_text(json.dumps(found))
    sys.stdout.flush()
    return 1 if "failure" in found else 0


def main() -> int:
    jobs = json.loads(Path(sys.argv[1]).read_text())
    for name in sys.argv[2:]:
        __import__(name)
    for job in jobs:
        pid = os.fork()
        if pid == 0:
            os._exit(child(job))
        os.waitpid(pid, 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
