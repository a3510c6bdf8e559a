# SPDX-License-Identifier: Apache-2.0
"""Gradient episodic memory: of each of five tasks so many batches are kept for rehearsal, no more."""

import argparse
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Settings:
    tasks: int = 5
    steps_per_task: int = 11
    quota: int = 7
    width: int = 256


class Memory:
    def __init__(self, settings):
        self.settings = settings
        self.batches = [[] for _ in range(settings.tasks)]

    def offer(self, task, x, y):
        if len(self.batches[task]) < self.settings.quota:
            self.batches[task].append((x, y))

    def gradients(self, model, before):
        found = []
        for kept in self.batches[:before]:
            x, y = kept[torch.randint(len(kept), ()).item()]
            loss = F.cross_entropy(model(x), y)
            found.append(torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(model.parameters()))]))
        return found


def project(model, references):
    """Takes away what of the gradient would undo an earlier task."""
    gradient = torch.cat([p.grad.flatten() for p in model.parameters()])
    for reference in references:
        share = (gradient @ reference) / (reference @ reference + 1e-12)
        gradient = gradient - share.clamp(max=0) * reference
    at = 0
    for p in model.parameters():
        p.grad.copy_(gradient[at:at + p.numel()].view_as(p))
        at += p.numel()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=45)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    settings = Settings()
    model = nn.Sequential(nn.Linear(settings.width, 64), nn.ReLU(), nn.Linear(64, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    memory = Memory(settings)
    for step in range(args.steps):
        task = min(step // settings.steps_per_task, settings.tasks - 1)  # step
        x, y = torch.randn(64, settings.width).cuda(), torch.randint(10, (64,)).cuda()
        memory.offer(task, x, y)
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        project(model, memory.gradients(model, task))
        optimizer.step()


if __name__ == "__main__":
    main()
