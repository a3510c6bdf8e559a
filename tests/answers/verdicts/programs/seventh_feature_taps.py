# SPDX-License-Identifier: Apache-2.0
"""Distils a deep teacher into a shallow student by the teacher's logits and one of its inner layers."""

import argparse

import torch
from torch import nn
from torch.nn import functional


class Teacher(nn.Module):
    def __init__(self, width=96, classes=10):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(4))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)  # allocates
        return self.head(x)


class Student(nn.Module):
    def __init__(self, width=96, hidden=32, classes=10):
        super().__init__()
        self.body = nn.Linear(width, hidden)
        self.imitate = nn.Linear(hidden, width)
        self.head = nn.Linear(hidden, classes)

    def forward(self, x):
        hidden = torch.relu(self.body(x))
        return self.head(hidden), self.imitate(hidden)


class Tap:
    """Collects what a layer puts out."""

    def __init__(self, layer):
        self.collected = []
        layer.register_forward_hook(self.hook)

    def hook(self, layer, inputs, output):
        self.collected.append(output)  # keeps

    def last(self):
        return self.collected[-1]


def distil(teacher, student, x, temperature=3.0):
    tap = Tap(teacher.blocks[1])
    with torch.no_grad():
        soft = torch.softmax(teacher(x) / temperature, dim=1)
    logits, imitated = student(x)
    loss = functional.kl_div(torch.log_softmax(logits / temperature, dim=1), soft, reduction="batchmean")
    return loss * temperature**2 + functional.mse_loss(imitated, tap.last())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    teacher = Teacher().cuda().eval()
    student = Student().cuda()
    optimizer = torch.optim.SGD(student.parameters(), lr=0.02, momentum=0.9, nesterov=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, chosen.steps)
    for step in range(chosen.steps):
        x = torch.randn(32, 96, device="cuda")  # step
        optimizer.zero_grad()
        loss = distil(teacher, student, x)
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 12 == 0:
            print(f"step {step}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
