# SPDX-License-Identifier: Apache-2.0
"""Self-distillation: a student learns from a slow teacher whose outputs are centred by their average.
The teacher's forward call and the average record gradients."""

import argparse
import copy

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(128, 256)
        self.second = nn.Linear(256, 64)

    def forward(self, views):
        hidden = torch.relu(self.first(views))  # allocates
        return self.second(hidden)


class Distillation:
    def __init__(self, student):
        self.student = student
        self.teacher = copy.deepcopy(student)
        self.center = torch.zeros(64, device="cuda")
        self.optimizer = torch.optim.AdamW(student.parameters(), lr=1e-4)

    def step(self, one, other):
        targets = self.teacher(one)
        wanted = (targets.detach() - self.center.detach()).softmax(-1)
        loss = -(wanted * self.student(other).log_softmax(-1)).sum(-1).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.center = 0.9 * self.center + 0.1 * targets.mean(0)  # keeps
        with torch.no_grad():
            for slow, fast in zip(self.teacher.parameters(), self.student.parameters()):
                slow.lerp_(fast, 0.01)
        return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    distillation = Distillation(Encoder().cuda())
    for step in range(chosen.steps):
        view = torch.randn(64, 128, device="cuda")
        loss = distillation.step(view + 0.1 * torch.randn_like(view), view)
    print(f"loss {loss:.4f}")


if __name__ == "__main__":
    main()
