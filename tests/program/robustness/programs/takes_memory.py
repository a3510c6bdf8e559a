# SPDX-License-Identifier: Apache-2.0
"""Trains, takes all memory of the host that it may have, and goes on training: takes_memory.py MIB

MIB of address space are left over what the process has once it has trained; 0: no limit."""

import re
import resource
import sys
from pathlib import Path

from small_training import Training, counters

training = Training()
training.steps(3)
if left := int(sys.argv[1]):
    now = int(re.search(r"VmSize:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) << 10
    resource.setrlimit(resource.RLIMIT_AS, (now + (left << 20),) * 2)
taken = []
try:
    while len(taken) < 64:
        taken.append(bytearray(8 << 20))
    print("took it all")
except MemoryError:
    print("no more memory")
training.steps(3)
taken.clear()
training.steps(3)
print(counters())
