# SPDX-License-Identifier: Apache-2.0
"""Snapshot ensembles: the learning rate falls in cycles, and at the end of each the weights are kept."""

import argparse
import copy
import math

import torch
import torch.nn.functional as F
from torch import nn


class CyclicTraining:
    def __init__(self, model, cycles, steps_per_cycle, lr=0.1):
        self.model, self.cycles, self.steps_per_cycle, self.lr = model, cycles, steps_per_cycle, lr
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.snapshots = []

    def rate(self, step):
        if step >= self.cycles * self.steps_per_cycle:
            return 0.01 * self.lr
        return self.lr / 2 * (1 + math.cos(math.pi * (step % self.steps_per_cycle) / self.steps_per_cycle))

    def step(self, step, x, y):
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate(step)
        loss = F.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        done = step + 1
        if done % self.steps_per_cycle == 0 and done <= self.cycles * self.steps_per_cycle:
            self.snapshots.append(copy.deepcopy(self.model.state_dict()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cycles", type=int, default=10)
    parser.add_argument("--steps-per-cycle", type=int, default=8)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = nn.Sequential(nn.Linear(150, 256), nn.ReLU(), nn.Linear(256, 25)).cuda()
    training = CyclicTraining(model, args.cycles, args.steps_per_cycle)
    for step in range(args.steps):
        x, y = torch.randn(64, 150).cuda(), torch.randint(25, (64,)).cuda()  # step
        training.step(step, x, y)


if __name__ == "__main__":
    main()
