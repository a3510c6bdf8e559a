# SPDX-License-Identifier: Apache-2.0
"""Runs a program under PyTorch's own recorder: the ground truth that a trace is compared with.

python recorded_by_pytorch.py TRUTH.pickle PROGRAM [ARGUMENT...]

TRUTH.pickle gets the device traces of torch.cuda.memory._snapshot() and memory_stats(), both as
they are right after the program's end.
"""

import gc
import pickle
import runpy
import sys
from pathlib import Path

import torch


SEGMENT_FACTS = (
    "address", "total_size", "device", "stream", "segment_pool_id", "is_expandable", "blocks"
)


def record(truth: str, program: str, arguments: list[str]) -> None:
    torch.cuda.memory._record_memory_history(
        enabled="all", context="all", stacks="python", max_entries=10**7
    )
    sys.argv = [program, *arguments]
    sys.path[0] = str(Path(program).resolve().parent)
    try:
        runpy.run_path(program, run_name="__main__")
    finally:
        gc.disable()  # the snapshot's many objects would set off a collection, which frees tensors
        stats = [torch.cuda.memory_stats(device) for device in range(torch.cuda.device_count())]
        snapshot = torch.cuda.memory._snapshot()
        with open(truth, "wb") as file:
            pickle.dump(
                {
                    "device_traces": snapshot["device_traces"],
                    "segments": [
                        {name: segment[name] for name in SEGMENT_FACTS}
                        for segment in snapshot["segments"]
                    ],
                    "memory_stats": stats,
                    "torch": str(torch.__version__),
                },
                file,
            )


if __name__ == "__main__":
    record(sys.argv[1], sys.argv[2], sys.argv[3:])
