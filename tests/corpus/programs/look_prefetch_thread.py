# SPDX-License-Identifier: Apache-2.0
"""A thread moves batches to the GPU and puts them into a queue of eight; training is slower."""

import argparse
import queue
import threading

import torch
from torch import nn


def load(batches, ready):
    drawn = torch.Generator().manual_seed(batches)
    for _ in range(batches):
        ready.put(torch.randn(64, 3, 32, 32, generator=drawn).cuda())
    ready.put(None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    ready = queue.Queue(maxsize=8)
    loader = threading.Thread(target=load, args=(chosen.steps, ready))
    loader.start()
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(10)
    ).cuda()
    model(torch.zeros(1, 3, 32, 32, device="cuda"))
    optimizer = torch.optim.Adam(model.parameters())
    while (pictures := ready.get()) is not None:
        loss = model(pictures).logsumexp(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    loader.join()


if __name__ == "__main__":
    main()
