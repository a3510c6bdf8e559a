# SPDX-License-Identifier: Apache-2.0
"""Runs a program under PyTorch's own recorder and kills the process right after its snapshot, so that a trace of the
same run ends at the same event.

python snapshot_truth.py TRUTH.pickle PROGRAM [ARGUMENT...]
"""

import gc
import os
import pickle
import runpy
import signal
import sys
from pathlib import Path

import torch


def main() -> None:
    truth, program, *arguments = sys.argv[1:]
    torch.cuda.memory._record_memory_history(enabled="all", context="all", stacks="python", max_entries=10**7)
    sys.argv = [program, *arguments]
    sys.path[0] = str(Path(program).resolve().parent)
    try:
        runpy.run_path(program, run_name="__main__")
    except torch.OutOfMemoryError:
        pass  # of a program that runs out of memory: the snapshot is of the moment after
    gc.disable()  # the snapshot's many objects would set off a collection, which frees tensors
    snapshot = torch.cuda.memory._snapshot()
    with open(truth, "wb") as file:
        pickle.dump(snapshot, file, protocol=4)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
