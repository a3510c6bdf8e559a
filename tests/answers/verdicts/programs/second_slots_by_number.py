# SPDX-License-Identifier: Apache-2.0
"""Negatives for contrastive learning are in fourteen slots; a step's number says which one is overwritten."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Negatives:
    def __init__(self, slots):
        self.slots = [None] * slots

    def put(self, step, keys):
        self.slots[step % len(self.slots)] = keys.detach()

    def all(self):
        return [slot for slot in self.slots if slot is not None]


def train(steps, slots=14):
    net = nn.Sequential(nn.Linear(60, 200), nn.ReLU(), nn.Linear(200, 256)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    negatives = Negatives(slots)
    for step in range(steps):
        left = torch.randn(128, 60).cuda()  # step
        right = left + 0.1 * torch.randn_like(left)
        queries, keys = F.normalize(net(left)), F.normalize(net(right))
        scores = queries @ torch.cat([keys, *negatives.all()]).T
        loss = F.cross_entropy(scores / 0.07, torch.arange(128, device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        negatives.put(step, keys)
    return loss.item()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    print(f"loss {train(args.steps):.3f}")
