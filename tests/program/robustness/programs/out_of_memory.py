# SPDX-License-Identifier: Apache-2.0
"""Runs out of memory: caught, with training going on; then, if asked, uncaught."""

import sys

import torch

from small_training import Training, counters

training = Training()
held = []
try:
    while True:
        held.append(torch.empty(64 << 20, dtype=torch.uint8, device="cuda"))
except torch.OutOfMemoryError as error:
    print("caught:", type(error).__name__, len(held), flush=True)
held.clear()
torch.cuda.empty_cache()
training.steps(2)
print(counters(), flush=True)
if sys.argv[1:] == ["uncaught"]:
    torch.empty(1 << 45, dtype=torch.uint8, device="cuda")
