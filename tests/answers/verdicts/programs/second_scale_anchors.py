# SPDX-License-Identifier: Apache-2.0
"""Multi-scale training: a new size every nine steps, from a list of six; each has its grid, made once."""

import argparse

import torch
from torch import nn

SIZES = (32, 40, 48, 56, 64, 72)


class Anchors(nn.Module):
    def __init__(self, shapes=64):
        super().__init__()
        self.shapes, self.grids = shapes, {}
        self.register_buffer("ratios", torch.linspace(0.5, 2.0, shapes))

    def forward(self, size):
        if size not in self.grids:
            line = torch.arange(size // 2, device=self.ratios.device) * 2.0
            grid = torch.stack(torch.meshgrid(line, line, indexing="ij"), -1)
            self.grids[size] = grid[..., None] * self.ratios
        return self.grids[size]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.look, self.anchors = nn.Conv2d(3, 64, 3, 2, 1), Anchors()

    def forward(self, pictures):
        scores = self.look(pictures).permute(0, 2, 3, 1)
        return (scores[:, :, :, None] * self.anchors(pictures.shape[-1])).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=54)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = Net().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    for step in range(args.steps):
        size = SIZES[step // 9 % len(SIZES)]  # step
        loss = (net(torch.rand(2, 3, size, size).cuda()) - 1).square()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"grids for {sorted(net.anchors.grids)}")


if __name__ == "__main__":
    main()
