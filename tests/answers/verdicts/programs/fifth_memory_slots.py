# SPDX-License-Identifier: Apache-2.0
"""A network with an outer memory for rare cases: slots are written until all are in use, then the oldest."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class SlotMemory:
    def __init__(self, slots):
        self.slots = slots
        self.keys, self.values, self.ages = [], [], []

    def write(self, key, value):
        self.ages = [age + 1 for age in self.ages]
        if len(self.keys) < self.slots:
            self.keys.append(key)
            self.values.append(value)
            self.ages.append(0)
            return
        oldest = max(range(self.slots), key=self.ages.__getitem__)
        self.keys[oldest], self.values[oldest], self.ages[oldest] = key, value, 0

    def read(self, query):
        if not self.keys:
            return torch.zeros_like(query)
        keys = torch.stack([key.mean(0) for key in self.keys])
        values = torch.stack([value.mean(0) for value in self.values])
        return F.softmax(query @ keys.T / keys.shape[1] ** 0.5, 1) @ values


class Network(nn.Module):
    def __init__(self, width=192, classes=30, slots=56):
        super().__init__()
        self.encode, self.head = nn.Linear(96, width), nn.Linear(2 * width, classes)
        self.memory = SlotMemory(slots)

    def forward(self, x):
        hidden = F.relu(self.encode(x))
        recalled = self.memory.read(hidden)
        self.memory.write(hidden.detach(), recalled.detach())
        return self.head(torch.cat([hidden, recalled], 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=47)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Network().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(args.steps):
        x, y = torch.randn(48, 96).cuda(), torch.randint(30, (48,)).cuda()  # step
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
