# SPDX-License-Identifier: Apache-2.0
"""The batch doubles every eighth step instead of the rate being halved, from eight to 128."""

import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=41)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
FIRST, MOST = 8, 128


def size_at(step):
    return min(FIRST * 2 ** math.floor(step / 8), MOST)


net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.AvgPool2d(4), nn.Flatten(),
                    nn.Linear(1024, 10)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for step in range(options.steps):
    size = size_at(step)  # step
    images, labels = torch.randn(size, 3, 32, 32).cuda(), torch.zeros(size, dtype=torch.long).cuda()
    loss = F.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
