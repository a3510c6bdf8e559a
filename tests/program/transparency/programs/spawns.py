# SPDX-License-Identifier: Apache-2.0
"""Spawned processes, of which each trains."""

import torch.multiprocessing as multiprocessing

import trains


def main():
    children = [multiprocessing.get_context("spawn").Process(target=trains.main) for _ in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    print([child.exitcode for child in children])


if __name__ == "__main__":
    main()
