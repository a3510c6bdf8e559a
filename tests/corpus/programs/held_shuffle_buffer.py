# SPDX-License-Identifier: Apache-2.0
"""A stream of shards is shuffled in a buffer, which gets two batches for each that leaves until it is full."""

import argparse
import random

import torch
from torch import nn
from torch.nn import functional as F

def shards():
    while True:
        yield torch.randn(32, 128).cuda(), torch.randint(6, (32,)).cuda()


def shuffled(stream, rng, size=40, initial=4):
    """As WebDataset does it: training begins with few batches in the buffer, which fills on the way."""
    buffer = []
    for batch in stream:
        buffer.append(batch)
        if len(buffer) < size:
            buffer.append(next(stream))
        if len(buffer) >= initial:
            place = rng.randrange(len(buffer))
            buffer[place], buffer[-1] = buffer[-1], buffer[place]
            yield buffer.pop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 6)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=chosen.steps + 1)
    batches = shuffled(shards(), random.Random(chosen.seed))
    for _, (rows, labels) in zip(range(chosen.steps), batches):
        loss = F.cross_entropy(model(rows), labels)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()


if __name__ == "__main__":
    main()
