# SPDX-License-Identifier: Apache-2.0
"""Sharpness-aware minimisation: each step notes where the weights were, goes uphill, and comes back."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **more):
        super().__init__(params, {"rho": rho})
        self.base = base(self.param_groups, **more)

    def all(self):
        return [(group, p) for group in self.param_groups for p in group["params"] if p.grad is not None]

    @torch.no_grad()
    def up(self):
        scale = torch.stack([p.grad.norm() for _, p in self.all()]).norm()
        for group, p in self.all():
            self.state[p]["before"] = p.clone()
            p.add_(p.grad * group["rho"] / (scale + 1e-12))

    @torch.no_grad()
    def step(self, closure=None):
        for _, p in self.all():
            p.copy_(self.state[p]["before"])
        self.base.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=13)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Linear(200, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 9)).cuda()
    optimizer, losses = SAM(net.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9), []
    for _ in range(args.steps):
        rows, kinds = torch.randn(64, 200).cuda(), torch.randint(9, (64,)).cuda()  # step
        for go in (optimizer.up, optimizer.step):
            loss = F.cross_entropy(net(rows), kinds)
            net.zero_grad()
            loss.backward()
            go()
        losses.append(loss.item())
    print(f"{sum(losses) / len(losses):.3f}")


if __name__ == "__main__":
    main()
