# SPDX-License-Identifier: Apache-2.0
"""Starts programs: one without CUDA, one that trains, one that is killed."""

import subprocess
import sys

from small_training import Training, counters

training = Training()
training.steps(2)
print(subprocess.run([sys.executable, "-c", "print('plain child')"], capture_output=True).stdout)
trains = "from small_training import *; Training().steps(2); print(counters())"
print(subprocess.run([sys.executable, "-c", trains], stdout=subprocess.PIPE, cwd=sys.path[0],
                     text=True).stdout)
print("status", subprocess.run(["sh", "-c", "kill -9 $$"]).returncode)
training.steps(2)
print(counters())
