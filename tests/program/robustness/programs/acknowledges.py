# SPDX-License-Identifier: Apache-2.0
"""Trains until killed. After every step the file named by the first argument says how many
allocations and frees had been completed by then: what a trace must not lose."""

import os
import struct
import sys

import torch

from small_training import Training

training = Training()
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
os.pwrite(file, struct.pack("<qqq", os.getpid(), 0, 0), 0)
while True:
    training.step()
    stats = torch.cuda.memory_stats()
    done = stats["allocation.all.allocated"], stats["allocation.all.freed"]
    os.pwrite(file, struct.pack("<qqq", os.getpid(), *done), 0)
