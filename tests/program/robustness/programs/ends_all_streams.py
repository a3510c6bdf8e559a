# SPDX-License-Identifier: Apache-2.0
"""Behaves as a daemon: closes every descriptor after it has trained, opens files that get the numbers,
and trains on. ends_all_streams.py FILE: there it says what came of it."""

import os
import sys

from small_training import Training, counters

training = Training()
training.steps(3)
os.closerange(0, 65536)
numbers = [os.open(f"{sys.argv[1]}.{number}", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
           for number in range(12)]
training.steps(3)
sizes = [os.fstat(one).st_size for one in numbers]
with open(sys.argv[1], "w") as file:
    print(numbers, sizes, counters(), file=file)
os._exit(4)
