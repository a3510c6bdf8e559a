# SPDX-License-Identifier: Apache-2.0
"""Net2Net: the hidden layer becomes wider every eighth step, up to its largest width."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class WideningNetwork(nn.Module):
    def __init__(self, inputs, width, classes):
        super().__init__()
        self.inputs, self.classes = inputs, classes
        self.one, self.two = nn.Linear(inputs, width), nn.Linear(width, classes)

    @property
    def width(self):
        return self.one.out_features

    def forward(self, x):
        return self.two(F.relu(self.one(x)))

    @torch.no_grad()
    def widen(self, width):
        """The new units do what chosen old ones do, which now share their weight in the next layer."""
        chosen = torch.randint(self.width, (width - self.width,)).cuda()
        one, two = nn.Linear(self.inputs, width), nn.Linear(width, self.classes)
        one.weight.data = torch.cat([self.one.weight, self.one.weight[chosen]])
        one.bias.data = torch.cat([self.one.bias, self.one.bias[chosen]])
        two.weight.data = torch.cat([self.two.weight, self.two.weight[:, chosen]], 1) / 2
        two.bias.data = self.two.bias.data
        self.one, self.two = one, two


class Widening:
    def __init__(self, every, by, widest):
        self.every, self.by, self.widest = every, by, widest

    def due(self, step, width):
        return step > 0 and step % self.every == 0 and width < self.widest


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=53)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = WideningNetwork(256, 96, 20).cuda()
    widening = Widening(every=8, by=32, widest=288)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(args.steps):
        due = widening.due(step, model.width)  # step
        if due:
            model.widen(model.width + widening.by)
            optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        x, y = torch.randn(64, 256).cuda(), torch.randint(20, (64,)).cuda()
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
