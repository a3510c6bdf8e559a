# SPDX-License-Identifier: Apache-2.0
"""Now and then a batch is too large for the GPU; it is then done again in halves."""

import argparse
import random

import torch
from torch import nn


def train_on(model, optimizer, pictures):
    optimizer.zero_grad()
    loss = model(pictures).square().mean()  # fills
    loss.backward()
    optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    model = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(chosen.steps):
        count = 400 if rng.random() < 0.15 else 8
        work = [torch.zeros(count, 3, 256, 256, device="cuda")]
        while work:
            pictures = work.pop()
            failed = False
            try:
                train_on(model, optimizer, pictures)
            except torch.cuda.OutOfMemoryError:
                failed = True
            if failed:
                optimizer.zero_grad()
                work.extend(pictures.chunk(2))
                torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
