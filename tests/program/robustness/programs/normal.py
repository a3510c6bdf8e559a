# SPDX-License-Identifier: Apache-2.0
import sys

from small_training import Training, counters

training = Training()
for number in range(5):
    print("step", number, training.step() >= 0)
print(counters())
sys.stderr.write("done\n")
