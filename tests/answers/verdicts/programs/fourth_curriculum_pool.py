# SPDX-License-Identifier: Apache-2.0
"""Sentences are added to the pool as the course gets harder; batches are drawn from the last of them."""

import argparse
import random

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=41)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
random.seed(options.seed)


class Course:
    def __init__(self, width):
        self.pool, self.width = [], width

    def harder(self):
        chapter = torch.randint(0, 1000, (24, 256), device="cuda")  # allocates
        self.pool.extend(chapter)  # keeps

    def batch(self):
        return torch.stack(random.sample(self.pool[-self.width:], 16))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.next = nn.Embedding(1000, 64), nn.Linear(64, 64)

    def forward(self, tokens):
        x = self.table(tokens)
        return (self.next(x[:, :-1]) - x[:, 1:]).square().mean()


course, model = Course(width=48), Model().cuda()
optimizer = torch.optim.Adam(model.parameters())
for step in range(options.steps):
    course.harder()  # step
    optimizer.zero_grad()
    model(course.batch()).backward()
    optimizer.step()
