# SPDX-License-Identifier: Apache-2.0
"""Two stages of a pipeline on one card: six micro-batches are under way before the first goes back."""

import argparse
from collections import deque

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=14)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
DEPTH, MICRO_BATCHES = 6, 12

first = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)).cuda()
second = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 1)).cuda()
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.01)
under_way = deque()


def forward(x):
    between = first(x)
    received = between.detach().requires_grad_()
    under_way.append((between, received, second(received).square().mean()))


def backward():
    between, received, loss = under_way.popleft()
    loss.backward()
    between.backward(received.grad)


for step in range(options.steps):
    x = torch.randn(128, 256, device="cuda")  # step
    forward(x)
    if len(under_way) == DEPTH:
        backward()
    if step % MICRO_BATCHES == MICRO_BATCHES - 1:
        while under_way:
            backward()
        optimizer.step()
        optimizer.zero_grad()
