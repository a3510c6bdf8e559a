# SPDX-License-Identifier: Apache-2.0
"""A student learns from one, two, then three teachers, and goes on alone when it has learnt enough."""

import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=19)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
LAST_WITH_TEACHERS = 15


def network(width):
    return nn.Sequential(nn.Linear(128, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 100))


def main():
    student, teachers = network(64).cuda(), []
    optimizer = torch.optim.Adam(student.parameters())
    for step in range(options.steps):
        x = torch.randn(64, 128, device="cuda")  # step
        if step in (3, 7, 11):
            teachers.append(network(1024).cuda().eval().requires_grad_(False))
        if step == LAST_WITH_TEACHERS:
            teachers.clear()
        answer = student(x)
        loss = F.cross_entropy(answer, torch.zeros(64, dtype=torch.long, device="cuda"))
        for teacher in teachers:
            loss = loss + F.kl_div(answer.log_softmax(1), teacher(x).softmax(1), reduction="batchmean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
