# SPDX-License-Identifier: Apache-2.0
"""Three tasks share a trunk; their weights follow the ratio of each task's last two losses on a probe batch."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=42)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
TASKS = ("depth", "normals", "labels")

trunk = nn.Sequential(nn.Linear(64, 256), nn.Tanh()).cuda()
heads = nn.ModuleDict({task: nn.Linear(256, 32) for task in TASKS}).cuda()
optimizer = torch.optim.Adam([*trunk.parameters(), *heads.parameters()])
probe = torch.randn(128, 64, device="cuda")
history = {task: [] for task in TASKS}


def losses(x):
    hidden = trunk(x)  # allocates
    return {task: heads[task](hidden).square().mean() for task in TASKS}  # allocates


def weight(task):
    if len(history[task]) < 2:
        return 1.0
    before, now = history[task][-2:]
    return (now / before.clamp_min(1e-6)).item()


for step in range(options.steps):
    optimizer.zero_grad()  # step
    for task, loss in losses(probe).items():
        history[task].append(loss)  # keeps
    total = sum(weight(task) * loss for task, loss in losses(torch.randn(128, 64, device="cuda")).items())
    total.backward()
    optimizer.step()
