# SPDX-License-Identifier: Apache-2.0
"""Mean teacher: after a warm-up the teacher is made from the student, and follows it from then on."""

import argparse
import copy

import torch
import torch.nn.functional as F
from torch import nn


class MeanTeacher:
    def __init__(self, student, start, decay=0.99):
        self.student, self.start, self.decay = student, start, decay
        self.teacher = None

    def update(self, step):
        if step < self.start:
            return
        if self.teacher is None:
            self.teacher = copy.deepcopy(self.student).requires_grad_(False)
        for slow, fast in zip(self.teacher.parameters(), self.student.parameters()):
            slow.lerp_(fast.detach(), 1 - self.decay)

    def consistency(self, x):
        if self.teacher is None:
            return 0.0
        with torch.no_grad():
            wanted = self.teacher(x + 0.1 * torch.randn_like(x)).softmax(1)
        return F.mse_loss(self.student(x).softmax(1), wanted)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=22)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--teacher-from", type=int, default=10)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    student = nn.Sequential(nn.Linear(128, 384), nn.ReLU(), nn.Linear(384, 10)).cuda()
    mean_teacher = MeanTeacher(student, args.teacher_from)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    for step in range(args.steps):
        labelled, labels = torch.randn(32, 128).cuda(), torch.randint(10, (32,)).cuda()  # step
        unlabelled = torch.randn(96, 128).cuda()
        loss = F.cross_entropy(student(labelled), labels) + 10 * mean_teacher.consistency(unlabelled)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean_teacher.update(step)


if __name__ == "__main__":
    main()
