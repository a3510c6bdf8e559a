# SPDX-License-Identifier: Apache-2.0
"""Weights are averaged over three horizons; each average begins a little later than the one before."""

import argparse
import copy

import torch
from torch import nn


class Average:
    def __init__(self, decay, begin):
        self.decay, self.begin, self.model = decay, begin, None

    @torch.no_grad()
    def update(self, step, model):
        if step < self.begin:
            return
        if self.model is None:
            self.model = copy.deepcopy(model).requires_grad_(False)
            return
        for old, new in zip(self.model.parameters(), model.parameters()):
            old.mul_(self.decay).add_(new, alpha=1 - self.decay)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Conv2d(3, 48, 3, padding=1), nn.ReLU(), nn.Conv2d(48, 48, 3, padding=1), nn.ReLU(),
                        nn.Conv2d(48, 3, 3, padding=1)).cuda()
    averages = [Average(0.9, 3), Average(0.99, 8), Average(0.999, 14)]
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-4)
    for step in range(args.steps):
        clean = torch.rand(8, 3, 24, 24).cuda()  # step
        loss = (net(clean + 0.1 * torch.randn_like(clean)) - clean).square().mean()
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
        for average in averages:
            average.update(step, net)
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
