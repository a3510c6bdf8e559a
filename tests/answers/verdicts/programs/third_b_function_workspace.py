# SPDX-License-Identifier: Apache-2.0
"""A Function of our own with a workspace, which is made larger when a batch needs it: batches grow during 37 steps."""

import argparse

import torch
from torch import nn


class Workspace:
    def __init__(self):
        self.memory = torch.empty(0, device="cuda")

    def take(self, *shape):
        count = torch.Size(shape).numel()
        if count > self.memory.numel():
            self.memory = torch.empty(count, device="cuda")
        return self.memory[:count].view(shape)


class Distances(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows, centers, workspace):
        ctx.save_for_backward(rows, centers)
        apart = workspace.take(len(rows), len(centers), rows.shape[1])
        torch.sub(rows.unsqueeze(1), centers.unsqueeze(0), out=apart)
        ctx.workspace = workspace
        return apart.square_().sum(-1)

    @staticmethod
    def backward(ctx, slope):
        rows, centers = ctx.saved_tensors
        apart = ctx.workspace.take(len(rows), len(centers), rows.shape[1])
        torch.sub(rows.unsqueeze(1), centers.unsqueeze(0), out=apart)
        apart.mul_(2 * slope.unsqueeze(-1))
        return apart.sum(1), -apart.sum(0), None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=56)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net, centers = nn.Linear(40, 64).cuda(), nn.Parameter(torch.randn(48, 64, device="cuda"))
    optimizer, workspace = torch.optim.Adam([*net.parameters(), centers], lr=1e-3), Workspace()
    for step in range(args.steps):
        rows = torch.randn(32 + 4 * min(step, 37), 40).cuda()  # step
        loss = Distances.apply(net(rows), centers, workspace).amin(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"room for {workspace.memory.numel()} numbers")


if __name__ == "__main__":
    main()
