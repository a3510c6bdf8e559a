# SPDX-License-Identifier: Apache-2.0
"""Tensors on the GPU handed from one process to another, through CUDA IPC: the memory is the sender's."""

import json
import os
import sys

import torch
import torch.multiprocessing as mp

BYTES = 32 << 20  # beyond the pool's 20 MiB segments: a segment of its own


def use(tensors, done):
    received = [tensors.get() for _ in range(2)]
    large, small = received
    assert large.is_cuda and large.numel() == BYTES and large.device.index == 0
    # A result computed from them is its own.
    own = large + 1
    said = {"role": "user", "pid": os.getpid(), "own": torch.cuda.memory_allocated(), "small": small.tolist(),
            "bytes": own.numel()}
    os.write(1, (json.dumps(said) + "\n").encode())
    del received, large, small
    done.set()


def main():
    context = mp.get_context(sys.argv[1])
    tensors, done = context.SimpleQueue(), context.Event()
    user = context.Process(target=use, args=(tensors, done))
    user.start()
    large = torch.zeros(BYTES, dtype=torch.uint8, device="cuda")
    small = torch.tensor([1, 2, 3], device="cuda")
    tensors.put(large)
    tensors.put(small)
    done.wait()
    user.join()
    said = {"role": "owner", "pid": os.getpid(), "own": torch.cuda.memory_allocated()}
    os.write(1, (json.dumps(said) + "\n").encode())
    sys.exit(user.exitcode)


if __name__ == "__main__":
    main()
