# SPDX-License-Identifier: Apache-2.0
"""Five tasks one after the other, ten steps each; a task brings its head, and all heads stay part of the model."""

import argparse
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Plan:
    tasks: int = 5
    steps_per_task: int = 10
    kinds: int = 60


class Continual(nn.Module):
    def __init__(self, plan, width=256):
        super().__init__()
        self.plan, self.width = plan, width
        self.trunk, self.heads = nn.Sequential(nn.Linear(64, width), nn.ReLU()), nn.ModuleList()

    def begin(self, task):
        while len(self.heads) <= task:
            head = nn.Sequential(nn.Linear(self.width, 256), nn.ReLU(), nn.Linear(256, self.plan.kinds))
            self.heads.append(head.cuda())
        return self.heads[task]

    def forward(self, rows, task):
        return self.heads[task](self.trunk(rows))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    plan = Plan()
    net = Continual(plan).cuda()
    optimizer = torch.optim.Adam(net.trunk.parameters())
    for step in range(args.steps):
        task = step // plan.steps_per_task % plan.tasks  # step
        if task == len(net.heads):
            optimizer.add_param_group({"params": list(net.begin(task).parameters())})
        loss = F.cross_entropy(net(torch.randn(32, 64).cuda(), task), torch.randint(plan.kinds, (32,)).cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{len(net.heads)} heads")


if __name__ == "__main__":
    main()
