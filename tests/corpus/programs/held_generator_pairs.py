# SPDX-License-Identifier: Apache-2.0
"""Contrastive training on pairs from a generator, which remembers every pair that it has made."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

def jittered(pictures):
    brightness = 0.8 + 0.4 * torch.rand(len(pictures), 1, 1, 1, device=pictures.device)
    moved = torch.roll(pictures, 2, dims=3)
    return moved * brightness + 0.05  # allocates


def pictures(steps):
    for _ in range(steps):
        yield torch.rand(32, 3, 16, 16).cuda()


def pairs(batches):
    """Two views of each batch; the views of the batch before are hard negatives of this one."""
    seen = []
    for batch in batches:
        seen.append((jittered(batch), jittered(batch)))  # keeps
        negatives = seen[-2][1] if len(seen) > 1 else seen[-1][1]
        yield *seen[-1], negatives


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    encoder = nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(784, 64)).cuda()
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.05, momentum=0.9)
    target = torch.arange(32, device="cuda")
    for first, second, negatives in pairs(pictures(chosen.steps)):
        ones, others, wrong = (F.normalize(encoder(view), dim=1) for view in (first, second, negatives))
        loss = F.cross_entropy(ones @ torch.cat([others, wrong.detach()]).T / 0.1, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
