# SPDX-License-Identifier: Apache-2.0
"""Distillation of a network by its own mean, as in DINO: a small crop more every five steps, seven in the end."""

import argparse
import copy

import torch
from torch import nn
from torch.nn import functional as F


def backbone():
    return nn.Sequential(nn.Conv2d(3, 32, 4, 4), nn.GELU(), nn.Conv2d(32, 64, 3, 2, 1), nn.GELU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 256))


def crops(pictures, size, count):
    return [pictures[:, :, 3 * index:3 * index + size, 2 * index:2 * index + size] for index in range(count)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    student = backbone().cuda()
    teacher = copy.deepcopy(student).requires_grad_(False)
    optimizer = torch.optim.AdamW(student.parameters(), lr=5e-4)
    center = torch.zeros(256, device="cuda")
    for step in range(args.steps):
        pictures = torch.rand(16, 3, 96, 96).cuda()  # step
        large, small = crops(pictures, 80, 2), crops(pictures, 48, min(1 + step // 5, 7))
        with torch.no_grad():
            goals = [teacher(crop) for crop in large]
            center.lerp_(torch.cat(goals).mean(0), 0.1)
        answers = [student(crop).log_softmax(1) for crop in large + small]
        goals = [(goal - center).softmax(1) for goal in goals]
        loss = sum(F.kl_div(answer, goal, reduction="batchmean") for answer in answers for goal in goals)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(teacher.parameters(), student.parameters()):
                slow.lerp_(fast, 0.004)
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
