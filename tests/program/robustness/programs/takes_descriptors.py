# SPDX-License-Identifier: Apache-2.0
"""Trains, opens files until it may not, and goes on training. With the argument numbers, it says which
it was given."""

import os
import sys

from small_training import Training, counters

training = Training()
training.steps(3)
opened = []
try:
    while True:
        opened.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error:
    print(error.strerror)
if sys.argv[1:] == ["numbers"]:
    print(opened)
training.steps(3)
for one in opened:
    os.close(one)
training.steps(3)
print(counters())
