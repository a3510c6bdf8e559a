# SPDX-License-Identifier: Apache-2.0
"""A network that grows: every third step a group of units is added, fed by all before it, up to --groups of them."""

import argparse

import torch
from torch import nn


class Cascade(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.inputs, self.width, self.groups = inputs, width, nn.ModuleList()
        self.out = nn.Linear(inputs, 1)

    def grow(self):
        known = self.inputs + self.width * len(self.groups)
        self.groups.append(nn.Sequential(nn.Linear(known, self.width), nn.Tanh()))
        wider = nn.Linear(known + self.width, 1)
        with torch.no_grad():
            wider.weight[:, :known] = self.out.weight.cpu()
        self.out = wider
        return self.cuda()

    def forward(self, x):
        for group in self.groups:
            x = torch.cat([x, group(x)], 1)
        return self.out(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--groups", type=int, default=8)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = Cascade(32, 64).cuda()
    for step in range(args.steps):
        if step % 3 == 0 and len(net.groups) < args.groups:
            net.grow()
            optimizer = torch.optim.Adam(net.parameters())
        rows = torch.randn(64, 32).cuda()  # step
        loss = (net(rows)[:, 0] - rows.sum(1).sin()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{len(net.groups)} groups, loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
