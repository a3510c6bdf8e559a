# SPDX-License-Identifier: Apache-2.0
"""Fine-tuning from the top down: a stage of the network joins the optimizer every five steps, five in all."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


def stage(inside, outside):
    return nn.Sequential(nn.Conv2d(inside, outside, 3, 2, 1), nn.BatchNorm2d(outside), nn.ReLU())


class Pictures(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.Sequential(stage(3, 128), stage(128, 128), stage(128, 128), stage(128, 128))
        self.head = nn.Linear(128, 10)

    def forward(self, pictures):
        return self.head(self.stages(pictures).mean((2, 3)))


def thaw(net, optimizer, step, every=5):
    number, at_once = divmod(step, every)
    if at_once == 0 and 0 < number <= len(net.stages):
        stage = net.stages[-number].requires_grad_(True)
        optimizer.add_param_group({"params": list(stage.parameters()), "lr": 1e-3 / 2 ** number})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = Pictures().cuda()
    net.stages.requires_grad_(False)
    optimizer = torch.optim.Adam(net.head.parameters(), lr=1e-3)
    for step in range(args.steps):
        thaw(net, optimizer, step)  # step
        pictures = torch.rand(8, 3, 64, 64).cuda()
        loss = F.cross_entropy(net(pictures), torch.randint(10, (8,)).cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}, {len(optimizer.param_groups)} groups")


if __name__ == "__main__":
    main()
