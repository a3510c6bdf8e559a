# SPDX-License-Identifier: Apache-2.0
"""Distillation: the teacher is asked once about each of twenty batches."""

import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=33)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Teacher:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 1000)).cuda().eval()
        self.said = {}

    @torch.no_grad()
    def about(self, index, x):
        try:
            return self.said[index]
        except KeyError:
            return self.said.setdefault(index, self.net(x).softmax(-1))


def main():
    batches = torch.randn(20, 64, 128)
    teacher, student = Teacher(), nn.Linear(128, 1000).cuda()
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    for step in range(options.steps):
        index = step * 3 % len(batches)  # step
        x = batches[index].cuda()
        loss = F.kl_div(student(x).log_softmax(-1), teacher.about(index, x), reduction="batchmean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
