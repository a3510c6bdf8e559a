# SPDX-License-Identifier: Apache-2.0
"""Performs a workload of workloads.py, and prints what torch.cuda.memory_stats() says at the end, or where memory ran out.

python one_workload.py NAME"""

import ctypes
import json
import random
import sys

import torch

import workloads

try:
    workloads.WORKLOADS[sys.argv[1]](random.Random(sys.argv[1]))
except torch.OutOfMemoryError:
    pass  # the statistics count it
print(json.dumps(torch.cuda.memory_stats()), flush=True)
ctypes.CDLL(None).exit(0)  # the trace is finished, and no object of Python's is freed any more
