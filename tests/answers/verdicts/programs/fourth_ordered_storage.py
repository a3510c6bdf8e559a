# SPDX-License-Identifier: Apache-2.0
"""DQN on stacked frames, with a store of transitions by number and a capacity."""

import argparse
import random
from collections import deque

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=50)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
random.seed(options.seed)


class Store:
    def __init__(self, capacity):
        self.capacity, self.order, self.frames, self.count = capacity, deque(), {}, 0

    def push(self, frames):
        self.frames[self.count] = frames  # keeps
        self.order.append(self.count)
        self.count += 1
        if len(self.order) > self.capacity:
            self.order.popleft()

    def sample(self, count):
        return torch.stack([self.frames[number] for number in random.sample(self.order, count)])


q = nn.Sequential(nn.Conv2d(4, 16, 8, stride=4), nn.ReLU(), nn.Conv2d(16, 32, 4, stride=2), nn.ReLU(),
                  nn.Flatten(), nn.Linear(32 * 81, 6)).cuda()
optimizer = torch.optim.Adam(q.parameters(), lr=1e-4)
store = Store(capacity=40)
for step in range(options.steps):
    optimizer.zero_grad()  # step
    for _ in range(4):
        store.push(torch.randint(0, 256, (4, 84, 84), dtype=torch.uint8, device="cuda"))  # allocates
    if len(store.order) >= 16:
        values = q(store.sample(16).float() / 255)
        values.max(1).values.mean().backward()
        optimizer.step()
