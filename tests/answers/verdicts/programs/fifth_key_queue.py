# SPDX-License-Identifier: Apache-2.0
"""Momentum contrast: negatives come from a queue of earlier keys."""

import argparse
import copy

import torch
import torch.nn.functional as F
from torch import nn


class MoCo(nn.Module):
    def __init__(self, dim=256, size=1024, momentum=0.99, temperature=0.2):
        super().__init__()
        self.size, self.momentum, self.temperature = size, momentum, temperature
        self.query = nn.Sequential(nn.Linear(300, 256), nn.ReLU(), nn.Linear(256, dim))
        self.key = copy.deepcopy(self.query).requires_grad_(False)
        self.register_buffer("queue", F.normalize(torch.randn(size, dim), dim=1))

    @torch.no_grad()
    def follow(self):
        for slow, fast in zip(self.key.parameters(), self.query.parameters()):
            slow.lerp_(fast, 1 - self.momentum)

    @torch.no_grad()
    def enqueue(self, keys):
        longer = torch.cat([self.queue, keys])  # allocates
        self.queue = longer  # keeps

    def forward(self, one, other):
        q = F.normalize(self.query(one), dim=1)
        with torch.no_grad():
            self.follow()
            k = F.normalize(self.key(other), dim=1)
        positive = (q * k).sum(1, keepdim=True)
        negative = q @ self.queue[-self.size:].T
        logits = torch.cat([positive, negative], 1) / self.temperature
        self.enqueue(k)
        return F.cross_entropy(logits, torch.zeros(len(q), dtype=torch.long, device=q.device))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=22)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = MoCo().cuda()
    optimizer = torch.optim.SGD(model.query.parameters(), lr=0.03, momentum=0.9, weight_decay=1e-4)
    for step in range(args.steps):
        views = torch.randn(2, 512, 300).cuda()  # step
        loss = model(views[0], views[1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
