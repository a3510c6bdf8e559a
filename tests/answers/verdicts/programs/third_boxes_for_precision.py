# SPDX-License-Identifier: Apache-2.0
"""Detection: boxes and scores of every batch are put aside for a mean precision at the very end."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Detector(nn.Module):
    def __init__(self, width=24, kinds=10):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.ReLU(), nn.Conv2d(width, width, 3, 2, 1), nn.ReLU())
        self.score, self.place = nn.Conv2d(width, kinds, 1), nn.Conv2d(width, 4, 1)

    def forward(self, pictures):
        seen = self.body(pictures)
        return self.score(seen), self.place(seen)


class MeanPrecision:
    def __init__(self):
        self.boxes, self.scores = [], []

    def update(self, scores, boxes):
        certain = scores.detach().sigmoid()  # allocates
        corners = boxes.detach() * 4  # allocates
        self.scores.append(certain)  # keeps
        self.boxes.append(corners)  # keeps

    def compute(self):
        return torch.cat(self.scores).mean() * torch.cat(self.boxes).square().mean().clamp(max=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net, precision = Detector().cuda(), MeanPrecision()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    for _ in range(args.steps):
        pictures = torch.rand(8, 3, 96, 96).cuda()  # step
        scores, boxes = net(pictures)
        loss = F.softplus(scores).mean() + boxes.abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        precision.update(scores, boxes)
    print(f"precision {precision.compute().item():.4f}")


if __name__ == "__main__":
    main()
