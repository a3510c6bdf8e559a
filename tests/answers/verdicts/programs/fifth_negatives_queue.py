# SPDX-License-Identifier: Apache-2.0
"""Momentum contrast for sound; the queue begins empty and grows to the length that was asked for."""

import argparse
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Contrast(nn.Module):
    def __init__(self, length, dim=128, momentum=0.995):
        super().__init__()
        self.length, self.momentum = length, momentum
        self.query = nn.Sequential(nn.Conv1d(1, 32, 9, stride=4), nn.ReLU(), nn.AdaptiveAvgPool1d(8), nn.Flatten(),
                                   nn.Linear(256, dim))
        self.key = copy.deepcopy(self.query).requires_grad_(False)
        self.queue = None

    @torch.no_grad()
    def keys(self, sound):
        for slow, fast in zip(self.key.parameters(), self.query.parameters()):
            slow.lerp_(fast, 1 - self.momentum)
        return F.normalize(self.key(sound), dim=1)

    def forward(self, one, other):
        q, k = F.normalize(self.query(one), dim=1), self.keys(other)
        scores = q @ k.T
        if self.queue is not None:
            scores = torch.cat([scores, q @ self.queue.T], 1)
        self.queue = k if self.queue is None else torch.cat([k, self.queue])[:self.length]
        return F.cross_entropy(scores / 0.1, torch.arange(len(q), device=q.device))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=26)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--queue", type=int, default=1920)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Contrast(args.queue).cuda()
    optimizer = torch.optim.Adam(model.query.parameters(), lr=1e-3)
    for _ in range(args.steps):
        sounds = torch.randn(2, 64, 1, 400).cuda()  # step
        loss = model(sounds[0], sounds[1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
