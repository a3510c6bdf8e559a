# SPDX-License-Identifier: Apache-2.0
"""A mixture of ten experts: one more is routed to every four steps, and Adam's moments come with its first slope."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Mixture(nn.Module):
    def __init__(self, width=96, experts=10):
        super().__init__()
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))
                                     for _ in range(experts))
        self.router = nn.Linear(width, experts)

    def forward(self, rows, chosen):
        gate = self.router(rows).softmax(1)[:, chosen:chosen + 1]
        return rows + gate * self.experts[chosen](rows)


def route(step, experts, every=4):
    """The newest expert gets its turn first, then those that are there already."""
    there = min(1 + step // every, experts)
    return there - 1 - step % every % there


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=53)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = Mixture().cuda()
    optimizer = torch.optim.Adam(
        [{"params": expert.parameters(), "lr": 1e-3} for expert in net.experts] + [{"params": net.router.parameters()}])
    for step in range(args.steps):
        rows = torch.randn(256, 96).cuda()  # step
        loss = F.mse_loss(net(rows, route(step, len(net.experts))), rows.roll(1, 1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}, moments of {len(optimizer.state)} tensors")


if __name__ == "__main__":
    main()
