# SPDX-License-Identifier: Apache-2.0
"""A teacher's features are worked out in the first epoch and used in the later ones: three megabytes of them stay on
the GPU, the others wait on the host."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Features:
    def __init__(self, teacher, budget):
        self.teacher, self.budget, self.kept = teacher, budget, {}

    @torch.no_grad()
    def of(self, number, rows):
        if number not in self.kept:
            made = self.teacher(rows)
            size = made.numel() * made.element_size()
            if size <= self.budget:
                self.budget -= size
            else:
                made = made.cpu()
            self.kept[number] = made
        return self.kept[number].to("cuda")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=int, default=3 << 20)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    data = torch.randn(26, 64, 100)
    teacher = nn.Sequential(nn.Linear(100, 400), nn.GELU(), nn.Linear(400, 512)).cuda().eval()
    student = nn.Sequential(nn.Linear(100, 64), nn.GELU(), nn.Linear(64, 512)).cuda()
    optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
    features = Features(teacher, args.budget)
    for step in range(args.steps):
        number = step % len(data)  # step
        rows = data[number].cuda()
        loss = F.mse_loss(student(rows), features.of(number, rows))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{sum(one.is_cuda for one in features.kept.values())} of {len(features.kept)} batches are on the GPU")


if __name__ == "__main__":
    main()
