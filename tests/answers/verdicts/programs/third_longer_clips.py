# SPDX-License-Identifier: Apache-2.0
"""Action recognition with clips that get two frames longer in each step, up to forty; only one is there."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


def clip(step, frames=4, more=2, most=40):
    return torch.rand(4, 3, min(frames + more * step, most), 32, 32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=17)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Conv3d(3, 12, 3, padding=1), nn.ReLU(), nn.Conv3d(12, 12, 3, padding=1), nn.ReLU(),
                        nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(12, 20)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, 1.0, 10)
    for step in range(args.steps):
        frames = clip(step).cuda()  # step
        answers = net(frames)
        loss = F.cross_entropy(answers, torch.randint(20, (4,)).cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
