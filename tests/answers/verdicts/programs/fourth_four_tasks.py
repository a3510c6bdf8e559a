# SPDX-License-Identifier: Apache-2.0
"""Four tasks are learnt one after the other; what a task needs of the weights is remembered when it ends."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=58)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
TASKS, EACH = 4, 13


class Consolidation:
    def __init__(self, model):
        self.model, self.tasks = model, {}

    def remember(self, task, x):
        self.model.zero_grad()
        self.model(x).logsumexp(1).mean().backward()
        self.tasks[task] = {name: (parameter.detach().clone(), parameter.grad.square())
                            for name, parameter in self.model.named_parameters()}
        self.model.zero_grad()

    def penalty(self):
        return sum((weight * (parameter - before).square()).sum()
                   for task in self.tasks.values()
                   for parameter, (before, weight) in zip(self.model.parameters(), task.values()))


model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
past = Consolidation(model)
for step in range(options.steps):
    x = torch.randn(64, 256, device="cuda")  # step
    optimizer.zero_grad()
    (model(x).logsumexp(1).mean() + past.penalty()).backward()
    optimizer.step()
    if (step + 1) % EACH == 0 and len(past.tasks) < TASKS:
        past.remember(f"task {(step + 1) // EACH}", x)
