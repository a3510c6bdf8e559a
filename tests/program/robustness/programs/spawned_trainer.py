# SPDX-License-Identifier: Apache-2.0
"""multiprocessing spawn: the child trains on the GPU too, so there are two traces."""

import torch.multiprocessing as multiprocessing

from small_training import Training, counters


def train(queue):
    training = Training()
    training.steps(3)
    queue.put(counters())


def main():
    training = Training()
    training.steps(1)
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    child = context.Process(target=train, args=(queue,))
    child.start()
    print("child:", queue.get())
    child.join()
    print("exit code", child.exitcode)
    print("parent:", counters())


if __name__ == "__main__":
    main()
