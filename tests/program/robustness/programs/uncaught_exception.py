# SPDX-License-Identifier: Apache-2.0
from small_training import Training, counters

training = Training()
training.steps(2)
print(counters(), flush=True)


def prepare(batch):
    raise ValueError(f"a bad batch: {batch}")


prepare(7)
