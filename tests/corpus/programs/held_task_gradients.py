# SPDX-License-Identifier: Apache-2.0
"""Three tasks share a trunk; how much their gradients disagree is measured against those before."""

import argparse
import random
from collections import defaultdict

import torch
from torch import nn
from torch.nn import functional as F

TASKS = {"depth": 1, "label": 20, "normal": 3}


class Conflict:
    """How far the gradient of one task points away from the latest of the others."""

    def __init__(self, trunk):
        self.trunk = trunk
        self.gradients = defaultdict(list)

    def measure(self, task):
        flat = torch.cat([weight.grad.flatten() for weight in self.trunk.parameters()])  # allocates
        others = [known[-1] for other, known in self.gradients.items() if other != task and known]
        self.gradients[task].append(flat)  # keeps
        return [F.cosine_similarity(flat, other, dim=0).item() for other in others]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    trunk = nn.Sequential(nn.Linear(48, 96), nn.ReLU()).cuda()
    heads = nn.ModuleDict({task: nn.Linear(96, size) for task, size in TASKS.items()}).cuda()
    optimizer = torch.optim.Adam([*trunk.parameters(), *heads.parameters()], lr=1e-3)
    conflict, worst = Conflict(trunk), 1.0
    for step in range(chosen.steps):
        task = rng.choice(list(TASKS))
        rows = torch.randn(128, 48, device="cuda")
        wanted = torch.randn(128, TASKS[task], device="cuda")
        optimizer.zero_grad()
        F.smooth_l1_loss(heads[task](trunk(rows)), wanted).backward()
        worst = min([worst, *conflict.measure(task)])
        optimizer.step()
    print(f"worst agreement {worst:.3f}")


if __name__ == "__main__":
    main()
