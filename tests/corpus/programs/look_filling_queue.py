# SPDX-License-Identifier: Apache-2.0
"""Momentum contrast: a queue of negatives that is longer than this run."""

import argparse
from collections import deque

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    query = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 128)).cuda()
    key = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 128)).cuda()
    key.load_state_dict(query.state_dict())
    optimizer = torch.optim.SGD(query.parameters(), lr=0.03, momentum=0.9)
    negatives = deque(maxlen=1024)
    for step in range(chosen.steps):
        pictures = torch.randn(256, 784, device="cuda")
        with torch.no_grad():
            for mine, theirs in zip(key.parameters(), query.parameters()):
                mine.lerp_(theirs, 0.001)
            keys = key(pictures)
        asked = query(pictures + 0.1 * torch.randn_like(pictures))
        positive = (asked * keys).sum(1, keepdim=True)
        others = torch.cat(list(negatives)[-8:] or [keys])
        logits = torch.cat([positive, asked @ others.T], 1)
        loss = nn.functional.cross_entropy(logits, torch.zeros(256, dtype=torch.long, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        negatives.append(keys)


if __name__ == "__main__":
    main()
