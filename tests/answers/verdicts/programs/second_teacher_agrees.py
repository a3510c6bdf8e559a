# SPDX-License-Identifier: Apache-2.0
"""A mean teacher joins after twenty steps; from then on its answers are kept, to see how well the two agree."""

import argparse
import copy

import torch
from torch import nn
from torch.nn import functional as F


class MeanTeacher:
    def __init__(self, student, warmup=20, decay=0.99):
        self.student, self.warmup, self.decay = student, warmup, decay
        self.teacher, self.answers = None, []

    def begin(self):
        self.teacher = copy.deepcopy(self.student).eval().requires_grad_(False)

    @torch.no_grad()
    def follow(self):
        for old, new in zip(self.teacher.parameters(), self.student.parameters()):
            old.lerp_(new, 1 - self.decay)

    @torch.no_grad()
    def answer(self, rows):
        logits = self.teacher(rows)  # allocates
        self.answers.append(logits)  # keeps
        return logits.softmax(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=56)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    student = nn.Sequential(nn.Linear(100, 300), nn.ReLU(), nn.Dropout(), nn.Linear(300, 300)).cuda()
    optimizer = torch.optim.SGD(student.parameters(), lr=0.03, momentum=0.9)
    guide = MeanTeacher(student)
    for step in range(args.steps):
        rows, kinds = torch.randn(32, 100).cuda(), torch.randint(300, (32,)).cuda()  # step
        logits = student(rows)
        loss = F.cross_entropy(logits, kinds)
        if step == guide.warmup:
            guide.begin()
        if step >= guide.warmup:
            loss = loss + F.mse_loss(logits.softmax(1), guide.answer(rows))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if guide.teacher is not None:
            guide.follow()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
