# SPDX-License-Identifier: Apache-2.0
"""Self-training in rounds: every fifth step the classifier's head begins anew, the body goes on."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Student(nn.Module):
    def __init__(self, inputs=64, width=512, classes=100):
        super().__init__()
        self.width, self.classes = width, classes
        self.body = nn.Sequential(nn.Linear(inputs, width), nn.ReLU())
        self.head = None

    def new_head(self):
        self.head = nn.Linear(self.width, self.classes, device="cuda")  # allocates
        return self.head

    def forward(self, x):
        return self.head(self.body(x))


class SelfTraining:
    def __init__(self, student, steps_per_round):
        self.student, self.steps_per_round = student, steps_per_round
        self.optimizer = torch.optim.AdamW(student.body.parameters(), lr=1e-3)

    def begin_round(self):
        head = self.student.new_head()
        self.optimizer.add_param_group({"params": head.parameters(), "lr": 3e-3})  # keeps

    def step(self, number, x, y):
        if number % self.steps_per_round == 0:
            self.begin_round()
        loss = F.cross_entropy(self.student(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()  # allocates


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=35)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    training = SelfTraining(Student().cuda(), steps_per_round=5)
    for number in range(args.steps):
        x, y = torch.randn(32, 64).cuda(), torch.randint(100, (32,)).cuda()  # step
        training.step(number, x, y)


if __name__ == "__main__":
    main()
