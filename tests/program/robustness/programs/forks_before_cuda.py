# SPDX-License-Identifier: Apache-2.0
"""Forks children that use the GPU, all at once, before it does so itself."""

import os
import sys

from small_training import Training, counters

CHILDREN = 6

pipes = []
for number in range(CHILDREN):
    ours, theirs = os.pipe()
    if os.fork() == 0:
        os.close(ours)
        training = Training()
        training.steps(1 + number)
        os.write(theirs, counters().encode())
        sys.exit(number)
    os.close(theirs)
    pipes.append(ours)
for pipe in pipes:
    with os.fdopen(pipe) as file:
        print(file.read())
print(sorted(os.waitstatus_to_exitcode(os.wait()[1]) for _ in pipes))
training = Training()
training.steps(2)
print(counters())
