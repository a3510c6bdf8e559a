# SPDX-License-Identifier: Apache-2.0
"""A prefetcher pins each batch to copy it without waiting, and never lets go of what it pinned."""

import argparse
import time

import torch
from torch import nn


class Prefetcher:
    def __init__(self, loader):
        self.loader = loader
        self.stream = torch.cuda.Stream()
        self.in_flight = []

    def __iter__(self):
        for batch in self.loader:
            pinned = batch.pin_memory()
            self.in_flight.append(pinned)  # keeps
            with torch.cuda.stream(self.stream):
                rows = pinned.cuda(non_blocking=True)
            torch.cuda.current_stream().wait_stream(self.stream)
            yield rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Linear(1024, 16).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for rows in Prefetcher(torch.randn(256, 1024) for _ in range(chosen.steps)):
        optimizer.zero_grad()
        model(rows).square().mean().backward()
        optimizer.step()
        time.sleep(0.02)  # a model that takes its time


if __name__ == "__main__":
    main()
