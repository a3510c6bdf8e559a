# SPDX-License-Identifier: Apache-2.0
"""Batches are copied ahead on a stream of their own, two deep."""

import argparse

import torch
from torch import nn


class Prefetcher:
    def __init__(self, batches):
        self.batches, self.stream, self.ready = iter(batches), torch.cuda.Stream(), None
        self.load()

    def load(self):
        batch = next(self.batches, None)
        if batch is None:
            self.ready = None
            return
        with torch.cuda.stream(self.stream):
            self.ready = [part.cuda(non_blocking=True) for part in batch]

    def __iter__(self):
        while self.ready is not None:
            torch.cuda.current_stream().wait_stream(self.stream)
            batch = self.ready
            for part in batch:
                part.record_stream(torch.cuda.current_stream())
            self.load()
            yield batch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    pinned = [(torch.randn(64, 3, 32, 32).pin_memory(), torch.randint(10, (64,)).pin_memory()) for _ in range(4)]
    model = nn.Sequential(nn.Conv2d(3, 32, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 225, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for pictures, labels in Prefetcher(pinned[step % 4] for step in range(chosen.steps)):
        loss = nn.functional.cross_entropy(model(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
